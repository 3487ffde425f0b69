"""Tests of the extension with limits of attacks, scores and samples."""
