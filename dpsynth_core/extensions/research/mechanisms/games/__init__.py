"""Query release as a game: FEM, sepFEM, DualQuery and DQRS."""
