dissent_labels <- function(votes, method = NULL, combine = NULL, gold = NULL, seed = 0, classes = NULL, task = NULL,
                           worker = NULL, label = NULL, duplicates = "error",
                           threads = getOption("dissent.threads", 1)) {
  table <- read_votes(votes, task, worker, label, classes, duplicates)
  result <- call_library(.Call(dissent_r_labels, table$handle, method_names(method), combine_name(combine),
                               one_number(seed, "seed"), gold_codes(gold, table), n_threads(threads)))
  p <- result$p
  dimnames(p) <- list(as_text(table$tasks), table$classes)
  best <- max.col(p, ties.method = "first")
  entropy <- -rowSums(ifelse(p > 0, p * log(pmax(p, .Machine$double.xmin)), 0))
  labels <- data.frame(task = table$tasks, label = as_class(best, table), probability = p[cbind(seq_along(best), best)],
                       entropy = unname(entropy), stringsAsFactors = FALSE)
  workers <- if (is.null(table$workers)) NULL else
    data.frame(worker = table$workers, votes = result$n_voted, quality = result$quality, stringsAsFactors = FALSE)
  methods <- frame(result$methods)
  for (warning in unique(methods$warning[!is.na(methods$warning)])) warning(warning, call. = FALSE)
  structure(list(labels = labels, probabilities = p, workers = workers, methods = methods[names(methods) != "warning"],
                 combine = result$combine, n_votes = table$n_votes, n_missing = table$n_missing),
            class = "dissent_labels")
}

as.data.frame.dissent_labels <- function(x, row.names = NULL, optional = FALSE, ..., probabilities = FALSE) {
  out <- x$labels
  if (probabilities) {
    p <- as.data.frame(x$probabilities, optional = TRUE)
    names(p) <- paste0("p:", colnames(x$probabilities))
    out <- cbind(out, p, row.names = NULL)
  }
  if (!is.null(row.names)) rownames(out) <- row.names
  out
}

heading <- function(x) {
  cat(sprintf("Labels of %d items from %d votes, %d classes\n", nrow(x$labels), x$n_votes, ncol(x$probabilities)))
  how <- paste(x$methods$method, collapse = ", ")
  cat(if (is.na(x$combine)) sprintf("method: %s\n", how) else sprintf("methods: %s, combined by %s\n", how, x$combine))
}

print.dissent_labels <- function(x, n = 6, ...) {
  heading(x)
  print(head(x$labels, n), row.names = FALSE, digits = 3, ...)
  if (nrow(x$labels) > n) cat(sprintf("... and %d more items\n", nrow(x$labels) - n))
  invisible(x)
}

summary.dissent_labels <- function(object, ...) {
  classes <- data.frame(label = colnames(object$probabilities), items = as.vector(table(object$labels$label)),
                        expected = unname(colSums(object$probabilities)))
  structure(list(labels = object, classes = classes, confident = mean(object$labels$probability >= .9),
                 uncertain = mean(object$labels$probability < .7)),
            class = "summary.dissent_labels")
}

print.summary.dissent_labels <- function(x, ...) {
  heading(x$labels)
  print(x$classes, row.names = FALSE, digits = 4)
  cat(sprintf("probability of at least 0.9: %.0f %% of the labels; below 0.7: %.0f %%\n", 100 * x$confident,
              100 * x$uncertain))
  if (!all(x$labels$methods$converged)) cat("not converged:", x$labels$methods$method[!x$labels$methods$converged], "\n")
  invisible(x)
}

plot.dissent_labels <- function(x, ...) {
  defaults <- list(breaks = seq(0, 1, .05), col = "grey80", border = "white", main = "Confidence of the labels",
                   xlab = "probability of the label", ylab = "items")
  given <- list(...)
  do.call(hist, c(list(x$labels$probability), given, defaults[setdiff(names(defaults), names(given))]))
  invisible(x)
}
