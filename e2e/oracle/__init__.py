"""The real kube-scheduler as an oracle: random cases, its decisions, and Berth's compared with them."""
