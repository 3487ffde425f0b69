# Make, check and read releases: a thin layer over the command line of DPSynth Studio.

# The words of the command: option "dpsynthstudio.command", or environment variable DPSYNTH_COMMAND, such as
# ".venv/bin/python -m dpsynth_core".
command <- function() {
  words <- getOption("dpsynthstudio.command", Sys.getenv("DPSYNTH_COMMAND", "python3 -m dpsynth_core"))
  if (length(words) == 1) strsplit(words, " +")[[1]] else words
}

# Runs a command and returns the lines that it prints; an error says what the command said.
run <- function(arguments) {
  words <- command()
  said <- tempfile()
  paths <- Sys.getenv("LD_LIBRARY_PATH", NA)  # R adds folders whose libraries may be others than those of Python
  Sys.unsetenv("LD_LIBRARY_PATH")
  on.exit({
    unlink(said)
    if (!is.na(paths)) Sys.setenv(LD_LIBRARY_PATH = paths)
  })
  lines <- suppressWarnings(system2(words[1], shQuote(c(words[-1], arguments)), stdout = TRUE, stderr = said))
  status <- attr(lines, "status")
  list(lines = as.character(lines), status = if (is.null(status)) 0L else status, said = readLines(said, warn = FALSE, encoding = "UTF-8"))
}

fail <- function(done) stop(paste(c(done$said, if (!length(done$said)) done$lines), collapse = "\n"), call. = FALSE)

# Repeats an option for each of several values: options("--of", c("a", "b")) is --of a --of b.
repeated <- function(option, values) as.vector(rbind(rep(option, length(values)), as.character(values)))

synthesize <- function(data, domain, epsilon, out, ...) {
  if (is.data.frame(data)) {
    file <- tempfile(fileext = ".csv")
    on.exit(unlink(file))
    write.table(data, file, sep = ",", row.names = FALSE, na = "", qmethod = "double", fileEncoding = "UTF-8")
    data <- file
  }
  more <- list(...)
  options <- unlist(lapply(names(more), function(name) {
    option <- paste0("--", gsub("_", "-", name, fixed = TRUE))
    if (isTRUE(more[[name]])) option else repeated(option, more[[name]])
  }))
  done <- run(c("synthesize", data, "--domain", domain, "--epsilon", format(epsilon, digits = 15), "--out", out, options))
  if (done$status != 0) fail(done)
  read_release(file.path(out, "release.zip"))
}

verify <- function(path) {
  if (inherits(path, "dps_release")) path <- path$path
  done <- run(c("verify", path))
  structure(done$status == 0, lines = c(done$lines, done$said))
}

read_release <- function(path) {
  checked <- verify(path)
  if (!checked) stop(paste(c("the release is not consistent, so none of its programs is run:", attr(checked, "lines")), collapse = "\n"), call. = FALSE)
  folder <- tempfile("release")
  unzip(path, exdir = folder)
  on.exit(unlink(folder, recursive = TRUE))
  program <- file.path(folder, "analysis.R")
  if (!file.exists(program)) stop("the release has no rows", call. = FALSE)
  inside <- new.env(parent = globalenv())
  before <- setwd(folder)
  on.exit(setwd(before), add = TRUE, after = FALSE)
  utils::capture.output(sys.source(program, inside))
  frame <- if (requireNamespace("tibble", quietly = TRUE)) function(table) tibble::as_tibble(table, .name_repair = "minimal") else identity
  members <- if (inside$linked) frame(inside$members)
  setwd(before)
  structure(list(path = normalizePath(path), title = inside$title, rows = frame(inside$rows), members = members,
                 released = frame(inside$released)), class = "dps_release")
}

print.dps_release <- function(x, ...) {
  cat(x$title, ": ", nrow(x$rows), " synthetic rows of ", ncol(x$rows), " columns\n", sep = "")
  cat("Intervals and p-values of tests that take the rows for people are wrong. Take them from `released`, or ask().\n")
  invisible(x)
}

ask <- function(release, statistic, of = NULL, among = NULL, versus = NULL, by = NULL, weighted = FALSE) {
  asked <- c("ask", release$path, statistic, repeated("--of", of), repeated("--among", among), repeated("--versus", versus),
             repeated("--by", by), if (weighted) "--weighted")
  done <- run(asked)
  if (done$status != 0) fail(done)
  structure(done$lines, class = "noquote")
}

compare <- function(object, data, ...) UseMethod("compare")

compare.dps_release <- function(object, data, vars = intersect(names(data), names(object$rows)), ...) {
  each <- lapply(vars, function(name) {
    lines <- object$released[object$released$column == name & object$released$table == "synthetic.csv" & !object$released$weighted, ]
    rows <- object$rows[[name]]
    values <- as.character(data[[name]])
    if (is.factor(rows)) {
      observed <- vapply(lines$cell, function(cell) mean(if (cell == "missing") is.na(values) else !is.na(values) & values == cell), 0)
      observed[lines$statistic == "mean"] <- NA
    } else {
      observed <- ifelse(lines$statistic == "mean", mean(suppressWarnings(as.numeric(values)), na.rm = TRUE), NA)
    }
    cbind(as.data.frame(lines)[c("column", "statistic", "cell", "value", "low", "high", "in_rows")], observed = unname(observed))
  })
  found <- do.call(rbind, each)
  found[!is.na(found$observed), ]
}

as.synds <- function(x, ...) UseMethod("as.synds")

as.synds.dps_release <- function(x, ...) {
  rows <- as.data.frame(x$rows)
  structure(list(call = match.call(), m = 1, syn = rows, method = stats::setNames(rep("dp", ncol(rows)), names(rows)), n = nrow(rows), k = nrow(rows),
                 visit.sequence = stats::setNames(seq_along(rows), names(rows)), rules = list(), strata.syn = NULL, strata.lev = NULL,
                 var.lab = NULL, val.lab = NULL, obs.vars = names(rows), numtocat = NULL, catgroups = NULL), class = "synds")
}
