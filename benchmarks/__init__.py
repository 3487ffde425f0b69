"""Measurements that anyone can repeat. They look at true counts without noise, which is right for public tables only."""
