# Verdicts on annotators who should be checked.
flagged_verdicts <- c("constant", "random", "confuses", "weak")

dissent_review <- function(votes, method = NULL, combine = NULL, gold = NULL, labels = NULL, budget = 0, seed = 0,
                           classes = NULL, task = NULL, worker = NULL, label = NULL, duplicates = "error",
                           threads = getOption("dissent.threads", 1)) {
  table <- read_votes(votes, task, worker, label, classes, duplicates)
  result <- call_library(.Call(dissent_r_review, table$handle, method_names(method), combine_name(combine),
                               one_number(seed, "seed"), gold_codes(gold, table), gold_codes(labels, table),
                               one_number(budget, "budget"), n_threads(threads)))
  items <- frame(result$items)
  items$task <- table$tasks[items$item]
  items$label <- as_class(items$label, table)
  items$most_probable <- as_class(items$most_probable, table)
  items$reason <- result$item_reasons
  items <- items[c("task", setdiff(names(items), c("task", "item")))]
  workers <- NULL
  if (!is.null(table$workers)) {
    workers <- frame(result$workers)
    workers$worker <- table$workers[workers$worker]
    workers$verdict <- factor(result$verdicts, unique(c(flagged_verdicts, "fine", result$verdicts)))
    workers$reason <- result$worker_reasons
  }
  structure(list(items = items, workers = workers, expected_accuracy = result$summary$expected_accuracy,
                 expected_accuracy_after = result$summary$expected_accuracy_after,
                 typical_accuracy = result$summary$typical_accuracy, beyond_chance = result$summary$beyond_chance,
                 method = result$method, budget = budget),
            class = "dissent_review")
}

as.data.frame.dissent_review <- function(x, row.names = NULL, optional = FALSE, ..., what = c("items", "workers")) {
  out <- x[[match.arg(what)]]
  if (!is.null(row.names)) rownames(out) <- row.names
  out
}

percent <- function(x) if (is.na(x)) "unknown" else sprintf("%.1f %%", 100 * x)

print.dissent_review <- function(x, n = 6, ...) {
  cat(sprintf("Review of %d items\n", nrow(x$items)))
  if (!x$beyond_chance) cat("votes agree no more than chance: neither labels nor annotators are judged\n")
  cat(sprintf("labels expected to be correct: %s; votes: %s\n", percent(x$expected_accuracy), percent(x$typical_accuracy)))
  cat("\nItems to check first:\n")
  print(head(x$items[c("task", "label", "p_correct", "votes", "reason")], n), row.names = FALSE, digits = 3, right = FALSE)
  flagged <- x$workers[x$workers$verdict %in% flagged_verdicts, ]
  if (!is.null(x$workers)) {
    cat(sprintf("\nAnnotators to check: %d of %d\n", nrow(flagged), nrow(x$workers)))
    if (nrow(flagged)) print(head(flagged[c("worker", "verdict", "accuracy", "votes", "reason")], n), row.names = FALSE, digits = 3, right = FALSE)
  }
  invisible(x)
}

summary.dissent_review <- function(object, ...) {
  c(items = nrow(object$items), annotators = NROW(object$workers),
    flagged = sum(object$workers$verdict %in% flagged_verdicts),
    expected_accuracy = object$expected_accuracy, typical_accuracy = object$typical_accuracy)
}
