"""Tests of files of SPSS, Stata, SAS, Excel and OpenDocument."""
