#!/usr/bin/env python3
"""Writes small files of examples/exports in the shape of evaluation tools: four items, three graders, made-up answers.

    tools/generate/make_evaluation_exports.py [FOLDER]

Shapes: promptfoo (type EvaluateResult), Langfuse API v2 (langfuse 5.0.4), LangSmith feedback (langsmith 0.14.17), MLflow traces
(mlflow 3.18.0), DeepEval test runs (deepeval 4.3.1), openai/evals (record.py), lm-evaluation-harness (lm-eval 0.4.13), Inspect
logs (inspect-ai 0.3.285), Chatbot Arena conversations (lmsys/chatbot_arena_conversations).
"""

import json
import os
import sys

GRADERS = ("ann", "bob", "gpt-4.1")
PASSED = ((True, True, True), (False, True, False), (True, True, False), (False, False, False))
QUESTIONS = ("What is 2 + 2?", "Name a prime above 10.", "Spell 'rhythm'.", "Which planet is largest?")
TIME = "2026-03-01T09:{:02d}:00.000Z"


def promptfoo():
    kinds = ("llm-rubric", "factuality", "human")
    results = []
    for i, row in enumerate(PASSED):
        parts = [
            {"pass": p, "score": float(p), "reason": "", "assertion": {"type": kind, "value": "is correct"}}
            for kind, p in zip(kinds, row)
        ]
        graded = {"pass": all(row), "score": sum(row) / 3, "reason": "", "componentResults": parts, "assertion": None}
        results.append({
            "id": f"r{i}", "promptIdx": 0, "testIdx": i, "promptId": "p0", "provider": {"id": "openai:gpt-4.1-mini", "label": ""},
            "prompt": {"raw": QUESTIONS[i], "label": "{{question}}"}, "vars": {"question": QUESTIONS[i]}, "response": {"output": "..."},
            "success": all(row), "failureReason": 0, "score": sum(row) / 3, "latencyMs": 310, "gradingResult": graded, "namedScores": {},
        })  # fmt: skip
    return {"evalId": "eval-1", "results": {"version": 3, "timestamp": TIME.format(0), "results": results, "stats": {}}, "config": {}}


def langfuse():
    data = []
    for i, row in enumerate(PASSED):
        for w, p in zip(GRADERS, row):
            person = not w.startswith("gpt")
            data.append({
                "id": f"s{i}-{w}", "traceId": f"trace-{i}", "observationId": None, "name": "correctness",
                "source": "ANNOTATION" if person else "EVAL", "timestamp": TIME.format(i), "createdAt": TIME.format(i),
                "updatedAt": TIME.format(i), "authorUserId": w if person else None, "dataType": "BOOLEAN", "value": int(p),
                "stringValue": str(p), "environment": "default",
            })  # fmt: skip
        data.append({"id": f"t{i}", "traceId": f"trace-{i}", "name": "latency", "source": "API", "timestamp": TIME.format(i),
                     "authorUserId": None, "dataType": "NUMERIC", "value": 0.3})  # fmt: skip
    return {"data": data, "meta": {"page": 1, "limit": 50, "totalItems": len(data), "totalPages": 1}}


def langsmith():
    for i, row in enumerate(PASSED):
        for w, p in zip(GRADERS, row):
            person = not w.startswith("gpt")
            source = {"type": "app" if person else "model", "metadata": {}}
            if person:
                source["user_id"] = w
            yield {
                "id": f"f{i}-{w}", "created_at": TIME.format(i), "modified_at": TIME.format(i), "run_id": f"run-{i}", "key": "correctness",
                "score": int(p), "value": "correct" if p else "wrong", "comment": None, "feedback_source": source,
            }  # fmt: skip


def mlflow():
    return [
        {
            "trace_id": f"tr-{i}", "state": "OK", "request": QUESTIONS[i], "response": "...",
            "assessments": [
                {
                    "assessment_id": f"a-{i}-{w}", "assessment_name": "correctness", "trace_id": f"tr-{i}",
                    "source": {"source_type": "LLM_JUDGE" if w.startswith("gpt") else "HUMAN", "source_id": w},
                    "create_time": TIME.format(i), "last_update_time": TIME.format(i), "feedback": {"value": "yes" if p else "no"}, "valid": True,
                }
                for w, p in zip(GRADERS, row)
            ] + [{"assessment_id": f"e-{i}", "assessment_name": "expected_response", "trace_id": f"tr-{i}",
                  "source": {"source_type": "HUMAN", "source_id": "ann"}, "expectation": {"value": "4"}}],
        }
        for i, row in enumerate(PASSED)
    ]  # fmt: skip


def deepeval():
    names = ("Answer Relevancy", "Correctness [GEval]", "Faithfulness")
    cases = [
        {
            "name": f"test_case_{i}", "input": QUESTIONS[i], "actualOutput": "...", "flaky": False, "success": all(row),
            "metricsData": [
                {"name": n, "threshold": 0.5, "success": p, "score": 0.9 if p else 0.2, "reason": "", "strictMode": False, "flaky": False,
                 "evaluationModel": "gpt-4.1"}
                for n, p in zip(names, row)
            ],
        }
        for i, row in enumerate(PASSED)
    ]  # fmt: skip
    return {"testCases": cases, "conversationalTestCases": [], "metricsScores": [], "testPassed": 1, "testFailed": 3, "runDuration": 4.2}


def openai_evals():
    for run, w in enumerate(GRADERS):
        event = 0
        yield {"spec": {"completion_fns": [w], "eval_name": "fact.dev.v0", "run_id": f"run-{w}"}}
        for i, row in enumerate(PASSED):
            head = {"run_id": f"run-{w}", "sample_id": f"fact.dev.{i}", "created_by": "", "created_at": f"2026-03-01 09:0{i}:00.000000+00:00"}
            yield {**head, "event_id": event, "type": "sampling", "data": {"prompt": QUESTIONS[i], "sampled": ["..."]}}
            yield {**head, "event_id": event + 1, "type": "match", "data": {"correct": row[run], "expected": "4", "picked": "4" if row[run] else "5"}}
            yield {**head, "event_id": event + 2, "type": "metrics", "data": {"choice": "A" if row[run] else "D", "score": float(row[run])}}
            event += 3
        yield {"final_report": {"accuracy": sum(r[run] for r in PASSED) / 4}}


def lm_eval(grader):
    for i, row in enumerate(PASSED):
        p = row[grader]
        yield {
            "doc_id": i, "doc": {"question": QUESTIONS[i]}, "target": "4", "arguments": {"gen_args_0": {"arg_0": QUESTIONS[i]}},
            "resps": [["4" if p else "5"]], "filtered_resps": ["4" if p else "5"], "filter": "none", "metrics": ["exact_match"],
            "doc_hash": f"{i:064x}", "prompt_hash": f"{i + 7:064x}", "target_hash": f"{9:064x}", "exact_match": float(p),
        }  # fmt: skip


def inspect_log():
    scorers = ("match", "model_graded_qa", "includes")
    samples = [
        {
            "id": i + 1, "epoch": 1, "input": QUESTIONS[i], "target": "4",
            "scores": {s: {"value": "C" if p else "I", "answer": "...", "metadata": {}, "history": []} for s, p in zip(scorers, row)},
        }
        for i, row in enumerate(PASSED)
    ]  # fmt: skip
    return {"version": 2, "status": "success", "eval": {"eval_id": "e1", "task": "facts", "model": "openai/gpt-4.1-mini"},
            "samples": samples}  # fmt: skip


def arena():
    winners = ("model_a", "model_b", "tie", "tie (bothbad)")
    for i, winner in enumerate(winners):
        talk = [{"role": "user", "content": QUESTIONS[i]}, {"role": "assistant", "content": "..."}]
        yield {
            "question_id": f"{i:032x}", "model_a": "alpha-7b", "model_b": "beta-13b", "winner": winner, "judge": f"arena_user_{i % 3}",
            "conversation_a": talk, "conversation_b": talk, "turn": 1, "anony": True, "language": "English", "tstamp": 1682351591.1 + i,
        }  # fmt: skip


def write(folder, name, value, lines=False):
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        if lines:
            f.writelines(json.dumps(x) + "\n" for x in value)
        else:
            f.write(json.dumps(value, indent=1) + "\n")


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "..", "..", "examples", "exports")
    write(folder, "promptfoo.json", promptfoo())
    write(folder, "langfuse.json", langfuse())
    write(folder, "langsmith.jsonl", langsmith(), lines=True)
    write(folder, "mlflow.json", mlflow())
    write(folder, "deepeval.json", deepeval())
    write(folder, "openai-evals.jsonl", openai_evals(), lines=True)
    for g, model in enumerate(("alpha-7b", "beta-13b", "gamma-70b")):
        write(folder, f"lm-eval/{model}/samples_facts_2026-03-01T09-00-00.jsonl", lm_eval(g), lines=True)
    write(folder, "inspect-ai.json", inspect_log())
    write(folder, "arena.jsonl", arena(), lines=True)


if __name__ == "__main__":
    main()
