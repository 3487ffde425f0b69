# What the package does with a release of simulated people. Run with the command in DPSYNTH_COMMAND; without it there is nothing to test.
library(dpsynthstudio)
if (!nzchar(Sys.getenv("DPSYNTH_COMMAND"))) quit(status = 0)

folder <- tempfile()
dir.create(folder)
domain <- file.path(folder, "domain.json")
writeLines('{"version": 1, "attributes": [
  {"name": "sex", "kind": "categorical", "categories": ["f", "m"], "labels": ["female", "male"], "other": false, "missing": false},
  {"name": "age", "kind": "integer", "lower": 0, "upper": 99, "bins": 5, "other": false, "missing": false},
  {"name": "region", "kind": "categorical", "categories": ["n", "s"], "other": false, "missing": false}]}', domain)
people <- data.frame(sex = rep(c("f", "m", "m"), 200), age = rep(c(20L, 40L, 60L), 200), region = "n")

made <- synthesize(people, domain, epsilon = 5, out = file.path(folder, "out"), mechanism = "independent")
stopifnot(inherits(made, "dps_release"), identical(levels(made$rows$sex), c("female", "male")), isTRUE(c(verify(made))))
male <- made$released[made$released$cell == "male", ]
stopifnot(male$low <= 2 / 3, male$high >= 2 / 3, male$known == "measured")
stopifnot(any(grepl("95%", ask(made, "share", of = "sex=m"), fixed = TRUE)))

people$sex <- ifelse(people$sex == "f", "female", "male")
both <- compare(made, people)
stopifnot(all.equal(both$observed[both$cell == "male"], 2 / 3), all.equal(both$observed[both$statistic == "mean"], 40))
synds <- as.synds(made)
stopifnot(inherits(synds, "synds"), synds$m == 1, identical(names(synds$syn), c("sex", "age", "region")))

wrong <- tryCatch(ask(made, "share", of = "nobody=1"), error = conditionMessage)
stopifnot(grepl("nobody", wrong))
bad <- tempfile(fileext = ".zip")
writeBin(head(readBin(made$path, "raw", 1e7), 1000), bad)
stopifnot(is.character(tryCatch(read_release(bad), error = conditionMessage)))
cat("everything holds\n")
