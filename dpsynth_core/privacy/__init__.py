"""The privacy room: costs, accounting, noise and the one kernel that sees private counts. Start reading at kernel.py."""
