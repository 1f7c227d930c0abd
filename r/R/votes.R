# Votes from a data frame, and what all calls of the library share.

# The result of a call: an error of the library becomes an R error, an interrupt of the user an R interrupt.
call_library <- function(result, call = sys.call(-1)) {
  if (is.null(result)) {
    condition <- structure(list(message = "interrupted", call = call), class = c("interrupt", "condition"))
    signalCondition(condition)
    invokeRestart("abort")
  }
  if (inherits(result, "dissent_failure")) {
    kind <- c("bug", "usage", "data", "io", "limit", "not_converged")[result$status]
    stop(structure(list(message = result$message, call = call),
                   class = c(paste0("dissent_", kind, "_error"), "dissent_error", "error", "condition")))
  }
  result
}

# An error of the arguments, with the classes of the library's errors. `...`: as for sprintf().
fail <- function(format, ...) {
  stop(structure(list(message = sprintf(format, ...), call = NULL),
                 class = c("dissent_usage_error", "dissent_error", "error", "condition")))
}

n_threads <- function(threads) {
  if (!is.numeric(threads) || length(threads) != 1 || is.na(threads) || threads < 0)
    fail("`threads` must be one number, 0 for all cores")
  as.integer(threads)
}

one_number <- function(x, name, least = 0) {
  if (!is.numeric(x) || length(x) != 1 || is.na(x) || x < least)
    fail("`%s` must be one number, %s or more", name, format(least))
  as.double(x)
}

# The name of the column with a role: the one that the caller names, else the usual names of the role.
find_column <- function(data, name, role, required = TRUE) {
  roles <- c(task = 0L, worker = 1L, label = 2L)
  if (!is.null(name)) {
    if (!is.character(name) || length(name) != 1 || !name %in% names(data))
      fail("the votes have no column %s; the columns are %s", deparse(name), paste(names(data), collapse = ", "))
    return(name)
  }
  found <- .Call(dissent_r_find_column, roles[[role]], enc2utf8(names(data)))
  if (length(found) == 2)
    fail("the %s could be column %s or %s; pass the argument `%s`", role, names(data)[found[1]],
         names(data)[found[2]], role)
  if (length(found) == 1) return(names(data)[found])
  if (required)
    fail(paste0("the votes have no column for the %s; pass the argument `%s`; the columns are %s; ",
         "if there is one row per item and one column per annotator, use dissent_votes()"),
         role, role, paste(names(data), collapse = ", "))
  NULL
}

# Classes in their order: levels of a factor, integers by value, other labels by bytes.
class_order <- function(label) {
  if (is.factor(label)) return(levels(label))
  found <- unique(label[!is.na(label)])
  if (is.character(found) && !all(grepl("^[+-]?[0-9]+$", found))) return(sort(enc2utf8(found), method = "radix"))
  if (is.character(found)) return(found[order(as.numeric(found))])
  as.character(sort(found))
}

# Labels, or anything that is compared with classes, as text.
as_text <- function(x) enc2utf8(as.character(x))

# Counts of labels per item, as table(task, label) returns them, as votes without workers.
votes_of_table <- function(counts) {
  if (length(dim(counts)) != 2) fail("a table of votes must have two dimensions: items and labels")
  rows <- as.data.frame(counts, stringsAsFactors = TRUE)
  rows <- rows[rep(seq_len(nrow(rows)), rows$Freq), 1:2]
  names(rows) <- c("task", "label")
  rows$task <- as.character(rows$task)
  rows[order(match(rows$task, rownames(counts))), ]
}

# A table of votes: the library's object, and names in R. Rows with a missing label are no votes.
read_votes <- function(votes, task = NULL, worker = NULL, label = NULL, classes = NULL, duplicates = "error",
                       need_workers = FALSE) {
  if (is.table(votes)) votes <- votes_of_table(votes)
  if (is.matrix(votes)) votes <- dissent_votes(votes)
  if (!is.data.frame(votes))
    fail("`votes` must be a data frame with one row per vote, or a matrix with one row per item")
  choices <- c("error", "first", "last", "all")
  duplicates <- match.arg(duplicates, choices)
  task <- find_column(votes, task, "task")
  worker <- find_column(votes, worker, "worker", required = need_workers)
  label <- find_column(votes, label, "label")
  labels <- votes[[label]]
  if (!is.atomic(labels)) fail("column %s must have plain values, one label per row", label)
  keep <- !is.na(labels)
  labels <- labels[keep]
  if (length(labels) == 0) fail("column %s has no labels", label)
  ids <- function(name) {
    x <- votes[[name]][keep]
    if (anyNA(x)) fail("column %s: row %d is missing", name, which(keep)[which(is.na(x))[1]])
    x
  }
  tasks <- ids(task)
  task_values <- unique(tasks)
  order <- if (is.null(classes)) class_order(labels) else as_text(classes)
  code <- match(as_text(labels), order) - 1L
  if (anyNA(code))
    fail("column %s: row %d: label %s is not in `classes`", label, which(keep)[which(is.na(code))[1]],
         as_text(labels[is.na(code)][1]))
  task_code <- match(tasks, task_values) - 1L
  ordered <- is.ordered(labels)
  out <- list(tasks = task_values, classes = order, ordered = ordered, n_missing = sum(!keep), n_votes = length(labels))
  if (is.null(worker)) {
    counts <- matrix(0, length(order), length(task_values))
    cell <- tabulate(task_code * length(order) + code + 1L, length(counts))
    counts[] <- as.double(cell)
    out$handle <- call_library(.Call(dissent_r_counts, counts, as_text(task_values), as_text(order)))
    return(out)
  }
  workers <- ids(worker)
  out$workers <- unique(workers)
  out$handle <- call_library(.Call(dissent_r_votes, task_code, match(workers, out$workers) - 1L, code,
                                   as_text(task_values), as_text(out$workers), as_text(order),
                                   match(duplicates, choices) - 1L, ordered))
  out
}

# Known classes as indices from 0, -1 where none is known. `gold`: a data frame with task and label, or a named vector.
gold_codes <- function(gold, votes) {
  if (is.null(gold)) return(NULL)
  if (is.data.frame(gold)) {
    task <- gold[[find_column(gold, NULL, "task")]]
    label <- gold[[find_column(gold, NULL, "label")]]
  } else {
    task <- names(gold)
    label <- gold
    if (is.null(task)) fail("`gold` must be a data frame with task and label, or a vector with names")
  }
  at <- match(as_text(task), as_text(votes$tasks))
  code <- match(as_text(label), votes$classes)
  unknown <- is.na(code) & !is.na(label)
  if (any(unknown)) fail("`gold`: label %s is not one of the classes", as_text(label[unknown][1]))
  if (anyDuplicated(at[!is.na(at)])) fail("`gold` has a task twice")
  if (anyNA(at)) warning(sprintf("`gold`: %d tasks have no votes", sum(is.na(at))), call. = FALSE)
  out <- rep(-1L, length(votes$tasks))
  use <- !is.na(at) & !is.na(code)
  out[at[use]] <- code[use] - 1L
  out
}

method_names <- function(method) {
  if (is.null(method)) return(character())
  if (!is.character(method) || anyNA(method)) fail("`method` must be names of methods; see dissent_methods()")
  enc2utf8(method)
}

combine_name <- function(combine) if (is.null(combine)) NULL else enc2utf8(as.character(combine)[1])

# An index from 1 as a class.
as_class <- function(index, votes) {
  factor(votes$classes[index], levels = votes$classes, ordered = votes$ordered)
}

frame <- function(columns) as.data.frame(columns, optional = TRUE, stringsAsFactors = FALSE)

dissent_methods <- function() frame(.Call(dissent_r_methods))
