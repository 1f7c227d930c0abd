# Votes from ratings with one row per item and one column per annotator, as the package irr has them.

# Levels of all columns in their order of appearance; NULL if a column is no factor.
common_levels <- function(columns) {
  if (!all(vapply(columns, is.factor, NA))) return(NULL)
  unique(unlist(lapply(columns, levels), use.names = FALSE))
}

# Labels of all columns, one below the other. Factors stay factors, ordered ones if all columns have the same levels.
stack_labels <- function(columns) {
  found <- common_levels(columns)
  if (is.null(found)) {
    columns <- lapply(columns, function(x) if (is.factor(x)) as.character(x) else x)
    return(unlist(columns, use.names = FALSE))
  }
  ordered <- all(vapply(columns, function(x) is.ordered(x) && identical(levels(x), found), NA))
  factor(unlist(lapply(columns, as.character), use.names = FALSE), levels = found, ordered = ordered)
}

dissent_votes <- function(ratings, task = NULL, workers = NULL) {
  if (is.matrix(ratings)) {
    if (is.null(colnames(ratings))) colnames(ratings) <- seq_len(ncol(ratings))
    ratings <- as.data.frame(ratings, stringsAsFactors = FALSE, optional = TRUE)
  }
  if (!is.data.frame(ratings)) fail("`ratings` must be a matrix or a data frame with one row per item")
  unknown <- setdiff(c(task, workers), names(ratings))
  if (length(unknown))
    fail("the ratings have no column %s; the columns are %s", deparse(unknown[1]),
         paste(names(ratings), collapse = ", "))
  if (is.null(workers)) workers <- setdiff(names(ratings), task)
  if (!length(workers) || !nrow(ratings)) fail("the ratings have no columns of annotators, or no rows")
  ids <- if (is.null(task)) attr(ratings, "row.names") else ratings[[task]]
  if (anyNA(ids) || anyDuplicated(ids))
    fail("column %s must name each item once; pass votes in rows to the functions themselves", task)
  columns <- lapply(workers, function(name) ratings[[name]])
  if (!all(vapply(columns, is.atomic, NA))) fail("the ratings must be plain values")
  votes <- data.frame(task = rep(ids, length(workers)), worker = rep(workers, each = length(ids)),
                      label = stack_labels(columns), stringsAsFactors = FALSE)
  votes[!is.na(votes$label), , drop = FALSE]
}
