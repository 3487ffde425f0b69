"""Programs for R, Stata, SAS and SPSS of a release of a file of SPSS."""
