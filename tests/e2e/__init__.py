"""Real clients, a scripted model, real git: what a person would see, from end to end."""
