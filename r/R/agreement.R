dissent_agreement <- function(votes, ordinal = NULL, gold = NULL, resamples = 1000, seed = 0, min_common = 5,
                              classes = NULL, task = NULL, worker = NULL, label = NULL, duplicates = "error",
                              threads = getOption("dissent.threads", 1)) {
  table <- read_votes(votes, task, worker, label, classes, duplicates)
  if (is.null(ordinal)) ordinal <- table$ordered
  result <- call_library(.Call(dissent_r_agreement, table$handle, gold_codes(gold, table), isTRUE(ordinal),
                               one_number(resamples, "resamples"), one_number(seed, "seed"),
                               one_number(min_common, "min_common"), n_threads(threads)))
  measures <- frame(result$measures)
  measures$title <- result$titles
  items <- frame(result$items)
  if (nrow(items)) items <- cbind(task = table$tasks, items)
  items$majority <- as_class(items$majority, table)
  workers <- frame(result$workers)
  if (nrow(workers)) workers <- cbind(worker = table$workers, workers)
  pairs <- frame(result$pairs)
  pairs$a <- table$workers[pairs$a]
  pairs$b <- table$workers[pairs$b]
  structure(list(measures = measures, classes = cbind(class = as_class(seq_along(table$classes), table), frame(result$classes)),
                 items = items, workers = workers, pairs = pairs,
                 chance = list(verdict = attr(result$chance, "verdict"), coefficient = result$chance$coefficient,
                               standard_error = result$chance$standard_error, z = result$chance$z, p = result$chance$p),
                 intervals_for = result$scope, n_items = length(table$tasks), n_workers = length(table$workers),
                 n_votes = table$n_votes),
            class = "dissent_agreement")
}

as.data.frame.dissent_agreement <- function(x, row.names = NULL, optional = FALSE, ...,
                                            what = c("measures", "classes", "items", "workers", "pairs")) {
  out <- x[[match.arg(what)]]
  if (!is.null(row.names)) rownames(out) <- row.names
  out
}

print.dissent_agreement <- function(x, ...) {
  cat(sprintf("Agreement of %d annotators on %d items, %d votes\n", x$n_workers, x$n_items, x$n_votes))
  known <- x$measures[!is.na(x$measures$value), ]
  print(data.frame(measure = known$measure, value = round(known$value, 4), low = round(known$low, 4),
                   high = round(known$high, 4), n = known$n), row.names = FALSE)
  if (any(!is.na(known$low)))
    cat(sprintf("intervals: 95 %%, for other %s\n",
                if (x$intervals_for == "items") "items and the same annotators" else "items and other annotators"))
  if (x$chance$verdict != "beyond") cat("agreement is not shown to be above chance\n")
  invisible(x)
}

summary.dissent_agreement <- function(object, ...) object$measures[c("measure", "title", "value", "low", "high", "n", "reason")]
