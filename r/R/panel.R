dissent_panel <- function(votes, judges, epsilon = .1, fdr = .05, min_people = 2, min_items = 30, numeric = FALSE,
                          budget = 0, seed = 0, classes = NULL, task = NULL, worker = NULL, label = NULL,
                          duplicates = "error", threads = getOption("dissent.threads", 1)) {
  table <- read_votes(votes, task, worker, label, classes, duplicates, need_workers = TRUE)
  missing <- setdiff(as_text(judges), as_text(table$workers))
  if (length(missing)) fail("`judges`: %s has no votes", missing[1])
  person <- !as_text(table$workers) %in% as_text(judges)
  options <- c(one_number(epsilon, "epsilon"), one_number(fdr, "fdr"), one_number(min_people, "min_people"),
               one_number(min_items, "min_items"), as.double(isTRUE(numeric)), one_number(budget, "budget"))
  result <- call_library(.Call(dissent_r_panel, table$handle, person, options, one_number(seed, "seed"), n_threads(threads)))
  frames <- lapply(result[c("judges", "pairs", "rates", "items", "copies")], frame)
  named <- as_text(table$workers[frames$judges$judge])
  frames$judges$judge <- named
  frames$pairs$a <- named[frames$pairs$a]
  frames$pairs$b <- named[frames$pairs$b]
  frames$rates$judge <- c(named, "majority of judges")[frames$rates$judge]
  frames$rates$class <- as_class(frames$rates$class, table)
  frames$copies$judge <- named[frames$copies$judge]
  frames$copies$worker <- ifelse(is.na(frames$copies$worker), "majority of people",
                                 as_text(table$workers)[frames$copies$worker])
  frames$items$task <- table$tasks[frames$items$item]
  frames$items <- frames$items[c("task", "people", "votes_to_buy", "gain")]
  p <- result$p
  if (!is.null(p)) dimnames(p) <- list(as_text(table$tasks), table$classes)
  structure(c(frames, list(probabilities = p, summary = frame(result$summary), missing_reason = result$missing_reason,
                           n_people = sum(person))),
            class = "dissent_panel")
}

as.data.frame.dissent_panel <- function(x, row.names = NULL, optional = FALSE, ...,
                                        what = c("judges", "pairs", "rates", "items", "copies")) {
  out <- x[[match.arg(what)]]
  if (!is.null(row.names)) rownames(out) <- row.names
  out
}

print.dissent_panel <- function(x, ...) {
  cat(sprintf("%d %s compared with %d people\n", nrow(x$judges), ngettext(nrow(x$judges), "judge", "judges"), x$n_people))
  if (!is.na(x$missing_reason)) {
    cat("nothing is reported about judges:", x$missing_reason, "\n")
    return(invisible(x))
  }
  print(x$judges[c("judge", "shared", "agreement", "agreement_low", "agreement_high", "above_chance", "error", "winning_rate",
                   "passed")], row.names = FALSE, digits = 3)
  if (!is.na(x$summary$effective))
    cat(sprintf("the judges count for %.1f independent ones\n", x$summary$effective))
  invisible(x)
}

summary.dissent_panel <- function(object, ...) object$judges
