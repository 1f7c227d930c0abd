/* Roles suggested by column names, from word stems in several languages. Stems are compared with the lowercase name;
 * the longest matching stem decides. A stem after "=" must be a separate word. Used in suggestions only: names that are
 * accepted without an option are in role_names.c. */
#include "votes/table/class_names.h"
#include "votes/roles/role_guess.h"
#include <string.h>

enum { LONGEST = 200 };

/* Spaces separate stems. */
static const char *const stems_of[] = {
    [DIS_NAMED_TASK] =
        "task item exempl document =doc sample question sentence =sent unit =hit instance image =img picture photo "
        "foto "
        "video audio =clip file path =url post tweet message record =case stimul query passage snippet utter pair "
        "object subject product page article paper abstract claim aufgabe objekt beispiel frage dokument =satz =bild "
        "tâche tache phrase élément element énonc tarea ejemplo pregunta frase oración compito esempio domanda tarefa "
        "pergunta questão exemplo zadanie zdanie pytanie przykład görev örnek soru cümle =taak vraag =zin opgave "
        "uppgift "
        "fråga oppgave spørsm tehtävä kysymys úloha otázka feladat kérdés задан задач вопрос пример 任务 样本 问题 "
        "题目 "
        "课题 課題 タスク 項目 質問 文書 작업 문항 항목 과제 질문 مهمة عنصر سؤال משימה פריט שאלה tugas =soal",
    [DIS_NAMED_WORKER] =
        "worker annotator annotater anotador anotator annotateur annotatore annotier =rater coder codeur kodier judge "
        "juge "
        "juez giudic labeler labeller etiketley etiquetador participant particip partecip teilnehm reviewer assessor "
        "evaluator évaluateur evaluador valutator avaliador grader respond turker =user usuari utilisateur utent "
        "benutzer "
        "nutzer gebruiker bruker person people expert student bewerter beurteiler gutachter prüfer oceniając ankiet "
        "koder "
        "değerlendir beoordelaar bedömar arvioija hodnotitel értékelő crowd =who =wer physician doctor arzt médic "
        "medic "
        "nurse radiolog patholog clinic разметчик аннотатор эксперт оценщик асессор работник участник пользоват 标注者 "
        "标注员 评估者 评审 工人 用户 作業者 評価者 アノテータ 注釈者 판정자 작업자 평가자 주석자 معلق مقيم شارح מתייג "
        "מעריך "
        "penilai",
    [DIS_NAMED_LABEL] =
        "label étiquette etiqueta etichetta etiket rótulo kategori categor catég klass clase =class urteil bewertung "
        "antwort "
        "réponse respuesta risposta resposta answer =ans judgment judgement jugement rating score grade vote verdict "
        "sentiment stance emotion toxic intent opinion =tag decision choice auswahl elecci scelta escolha ocena "
        "etykiet "
        "odpowied antwoord =svar vastaus odpově válasz értékelés оценк ответ метк класс категор 标签 答案 类别 评分 "
        "标注 "
        "ラベル 回答 評価 분류 라벨 응답 등급 تصنيف إجابة تقييم תווית תשובה finding diagnos befund",
    [DIS_NAMED_OTHER] =
        "time date zeit created updated modified duration second elapsed dauer comment remark =note bemerk commentaire "
        "comentario confiden certain =sure =lang language batch round session country gender =age =text content =body "
        "title =row =nr index",
};

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (unsigned char)c >= 0x80;
}

static bool occurs(const char *name, size_t n, const char *stem, size_t n_stem, bool is_word)
{
    for (size_t i = 0; i + n_stem <= n; i++) {
        if (memcmp(name + i, stem, n_stem) != 0) continue;
        const bool alone = (i == 0 || !is_letter(name[i - 1])) && (i + n_stem == n || !is_letter(name[i + n_stem]));
        if (!is_word || alone) return true;
    }
    return false;
}

dis__name_hint dis__guess_name(const char *name, size_t n)
{
    char small[LONGEST];
    size_t longest = 0;
    dis__name_hint named = DIS_NAMED_NOTHING;
    if (n > sizeof small) return named;
    n = dis__label_fold(name, n, true, true, small);
    for (int role = DIS_NAMED_TASK; role <= DIS_NAMED_OTHER; role++)
        for (const char *p = stems_of[role]; *p;) {
            const bool is_word = *p == '=';
            const char *stem = p + is_word;
            const size_t n_stem = strcspn(stem, " ");
            if (n_stem > longest && occurs(small, n, stem, n_stem, is_word)) {
                longest = n_stem;
                named = (dis__name_hint)role;
            }
            p = stem + n_stem;
            p += *p == ' ';
        }
    return named;
}
