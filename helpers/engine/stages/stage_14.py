"""14, hooks: before a node runs, with all that has arrived, and after it."""

# given
run_node = evaluate  # as it has been until now


class Handle:
    """What a registration returns: it can take the hook off again."""

    def __init__(self, hooks, hook):
        self.hooks, self.hook = hooks, hook

    def remove(self):
        if self.hook in self.hooks:
            self.hooks.remove(self.hook)


def hooks_of(node, when):
    """Return the hooks `before` or `after` a node, as a list that one more can go into."""
    return vars(node).setdefault(when, [])


def hook_on_leaf(leaf, hook):
    return register(hooks_of(edge(leaf)[0], "after"), lambda grads, arrived: hook(leaf))


Node.before = Node.after = ()  # most nodes have none
Node.register_hook = lambda self, hook: register(hooks_of(self, "after"), hook)
Value.register_hook = lambda self, hook: register(hooks_of(edge(self)[0], "before"), hook)
Value.register_post_accumulate_grad_hook = hook_on_leaf


# yours
def register(hooks, hook):
    hooks.append(hook)
    return Handle(hooks, hook)


def evaluate(node, grad, retain_graph=False):
    for hook in node.before:
        changed = hook(grad)
        if changed is not None:
            grad = changed
    grads = run_node(node, grad, retain_graph)
    for hook in node.after:
        changed = hook(grads, (grad,))
        if changed is not None:
            grads = changed
    return grads
