# Values with intervals, one per row, the first at the top. `given`: arguments of plot() from the user.
plot_intervals <- function(value, low, high, names, given, xlab, main, xlim = range(value, low, high, na.rm = TRUE),
                           colours = "grey20") {
  at <- rev(seq_along(value))
  old <- par(mar = c(4, 10, 2, 1))
  on.exit(par(old))
  settings <- list(x = value, y = at, yaxt = "n", xlab = xlab, ylab = "", main = main, xlim = xlim,
                   ylim = c(.5, length(value) + .5), pch = 19, col = colours)
  do.call(plot, modifyList(settings, given))
  axis(2, at = at, labels = names, las = 1, tick = FALSE)
  wide <- which(high > low)
  arrows(low[wide], at[wide], high[wide], at[wide], angle = 90, code = 3, length = .03,
         col = rep_len(colours, length(at))[wide])
}

plot.dissent_agreement <- function(x, ...) {
  m <- x$measures[!is.na(x$measures$value) & !is.na(x$measures$low), ]
  if (!nrow(m)) stop("there are no intervals to plot; pass `resamples`")
  plot_intervals(m$value, m$low, m$high, m$measure, list(...), "agreement",
                 "Agreement with 95 % intervals", range(0, 1, m$low))
  abline(v = 0, lty = 3)
  invisible(x)
}

plot.dissent_review <- function(x, ...) {
  w <- x$workers[!is.na(x$workers$accuracy), ]
  if (is.null(w) || !nrow(w)) stop("no annotator could be judged")
  w <- w[order(-w$accuracy), ]
  plot_intervals(w$accuracy, w$accuracy_low, w$accuracy_high, as_text(w$worker), list(...), "accuracy",
                 "Accuracy with 95 % intervals", colours = ifelse(w$verdict %in% flagged_verdicts, "red3", "grey30"))
  invisible(x)
}

plot.dissent_panel <- function(x, ...) {
  if (!is.na(x$missing_reason)) stop("nothing is reported about judges: ", x$missing_reason)
  j <- x$judges[!is.na(x$judges$agreement), ]
  plot_intervals(j$agreement, j$agreement_low, j$agreement_high, j$judge, list(...), "agreement with people",
                 "Judges: agreement with 95 % intervals")
  invisible(x)
}
