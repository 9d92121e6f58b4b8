"""14, hooks: before a node runs, with all that has arrived, and after it."""

# given
run_node = evaluate  # yours, as it has been until now


class Handle:
    """What a registration returns: it can take the hook off again."""

    def __init__(self, hooks, hook):
        self.hooks, self.hook = hooks, hook

    def remove(self):
        if self.hook in self.hooks:
            self.hooks.remove(self.hook)


def hooks_of(node, when):
    """Return the list of hooks that run "before" a node or "after" it; at first it is empty."""
    return vars(node).setdefault(f"hooks {when}", [])


def hook_on_leaf(leaf, hook):
    return register(edge(leaf)[0], "after", lambda grads, arrived: hook(leaf))


Value.register_hook = lambda self, hook: register(edge(self)[0], "before", hook)
Node.register_hook = lambda self, hook: register(self, "after", hook)
Value.register_post_accumulate_grad_hook = hook_on_leaf


# yours
def register(node, when, hook):
    hooks = hooks_of(node, when)
    hooks.append(hook)
    return Handle(hooks, hook)


def evaluate(node, grad, retain_graph=False):
    for hook in hooks_of(node, "before"):
        changed = hook(grad)
        if changed is not None:
            grad = changed
    grads = run_node(node, grad, retain_graph)
    for hook in hooks_of(node, "after"):
        changed = hook(grads, (grad,))
        if changed is not None:
            grads = changed
    return grads
