"""Our forms of torch's formulas: data alone.

`FORMS` gives, for a line "input: formula" of derivatives.yaml, what one input is handed on, in
plain Python: `grad` is what arrives, `shape` the shape of that input, `copies` how many of its
elements one of `grad` stands for, `size` how many it has, `position` its place among the inputs,
`is_complex` whether it is complex,
`shapes` the shapes of all of them, `grads` what arrives for each output, and `input_shape` the
shape of the saved `input`; all other names are torch's for what was saved. A line that is found here nowhere is read as it
stands, where it is plain enough. `ROUGH` takes out of a line first what matters to complex
numbers alone.
"""

ROUGH = (
    (r"\.conj\(\)", ""),
    (r"handle_r_to_c\(\w+\.scalar_type\(\), (.*)\)", r"\1"),
    (r"grad\.defined\(\) \? (.*) : std::tuple<.*>\(\)", r"\1"),
    (r"_symint\b", ""),
    (r"at::", ""),
    (r"/\*.*?\*/ ?", ""),
    (r"\.to\((?:self|grad)\.scalar_type\(\)\)", ""),
    (r"\.transpose\(1, 2\)", ".mT"),
    (r"\.t\(\)(?=\.)", ".mT"),
)

_KEPT = "kept(grad, dim, keepdim, shape)"
_RESULT = "kept(result, dim, keepdim, shape)"
_MEAN = "(size if reduction == 1 else 1)"
_FREE = "(copies - (1 if correction is None else correction))"
_SCALE = "scale_of(query, scale)"
_WEIGHTS = f"attention(query, key, logsumexp, attn_mask, is_causal, {_SCALE})"
_SCORES = f"to_scores(grad, value, {_WEIGHTS}, output)"
_USED = (
    "mean_used(result1, running_mean, training, shape), "
    "inverse_used(result2, running_var, training, eps, shape)"
)
_CHANNELS = (
    "mean_used(result1, running_mean, training, input_shape), "
    "inverse_used(result2, running_var, training, eps, input_shape)"
)
_WEIGHTED = "(grad * (1 if weight is None else per_class(weight, shape)))"
_CONV = "stride, padding, dilation, transposed, groups, shape"
_WORDS = (
    "averaged_in_words(grad, indices, shape) if scale_grad_by_freq else "
    "added_to_words(grad, indices, shape)"
)
_POWER = "exponent * self ** (exponent - 1)"

FORMS = (
    # elementwise
    (r"\w+: grad(?:\.expand\(self\.sym_sizes\(\)\))?", "grad"),
    (r"\w+: sum_to\(grad, .*\)", "grad"),
    (r"self: _to_copy_backward\(grad, .*\)", "grad"),
    (r"\w+: zeros_like\(\w+\)", "grad * 0"),
    (r"\w+: mul_tensor_backward\(grad, (\w+), .*\)", r"grad * \1"),
    (
        r"self: div_tensor_self_backward\(grad, other, [^,]*, rounding_mode\)",
        "grad * (1 / other if rounding_mode is None else 0)",
    ),
    (r"self: div_tensor_self_backward\(grad, other, [^,]*\)", "grad / other"),
    (
        r"other: div_tensor_other_backward\(grad, self, other, rounding_mode\)",
        "grad * (-self / other ** 2 if rounding_mode is None else 0)",
    ),
    (r"other: div_tensor_other_backward\(grad, self, other\)", "grad * (-self / other ** 2)"),
    (r"self: pow_backward\(.*\)", f"grad * (0 if exponent == 0 else {_POWER})"),
    (r"self: pow_backward_self\(.*\)", f"grad * ({_POWER})"),
    (r"exponent: pow_backward_exponent\(.*\)", "grad * (result * log(self))"),
    (r"self: tanh_backward\(grad, result\)", "grad * (1 - result ** 2)"),
    (r"self: sigmoid_backward\(grad, result\)", "grad * (result * (1 - result))"),
    (r"self: log1p_backward\(grad, self\)", "grad / (self + 1)"),
    (r"self: log_sigmoid_backward\(.*\)", "grad * sigmoid(-self)"),
    (r"self: threshold_backward\(grad, (\w+), (\w+)\)", r"grad * where(\1 > \2, 1, 0)"),
    (r"self: hardtanh_backward\(.*\)", "grad * where(between(self, min_val, max_val), 1, 0)"),
    (r"self: leaky_relu_backward\(.*\)", "grad * where(self > 0, 1, negative_slope)"),
    (
        r"self: elu_backward\(grad, alpha, scale, input_scale, .*\)",
        "grad * where(self > 0, scale, scale * alpha * input_scale * exp(input_scale * self))",
    ),
    (r"self: elu_backward\(grad, alpha, 1, .*\)", "grad * where(self > 0, 1, exp(self / alpha))"),
    (
        r"self: gelu_backward\(.*\)",
        "grad * (tanh_gelu_slope(self) if approximate == 'tanh' else "
        "normal_share(self) + self * normal_density(self))",
    ),
    (
        r"self: .* : silu_backward\(grad, self\)",
        "grad * (sigmoid(self) * (1 + self * (1 - sigmoid(self))))",
    ),
    (
        r"self: .* : mish_backward\(grad, self\)",
        "grad * (tanh(softplus(self)) + self * sigmoid(self) * (1 - tanh(softplus(self)) ** 2))",
    ),
    (
        r"self: softplus_backward\(.*\)",
        "grad * where(beta * self > threshold, 1, sigmoid(beta * self))",
    ),
    (r"self: hardsigmoid_backward\(.*\)", "grad * where(between(self, -3, 3), 1 / 6, 0)"),
    (
        r"self: hardswish_backward\(.*\)",
        "grad * where(self <= -3, 0, where(self < 3, self / 3 + 0.5, 1))",
    ),
    (
        r"self: clamp_backward\(.*\)",
        "grad * (where(self <= max, 1, 0) if min is None else "
        "where(self >= min, 1, 0) if max is None else where(within(self, min, max), 1, 0))",
    ),
    (
        r"min: clamp_backward_min_max\(.*\)",
        "grad * where(self < min if max is None else (self < min) & (min < max), 1, 0)",
    ),
    (
        r"max: clamp_backward_min_max\(.*\)",
        "grad * where(self > max if min is None else (self > max) | (min > max), 1, 0)",
    ),
    (r"\w+: where\((self [<>]=? \w+), grad, scalar_tensor\(.*\)\)", r"grad * where(\1, 1, 0)"),
    (
        r"\w+: where\(self == other, grad / 2, grad\)\.masked_fill_\((\w+) < (\w+), 0\)",
        r"grad * is_greater(\1, \2)",
    ),
    (
        r"\w+: where\(self == other, grad / 2, grad\)\.masked_fill_\((\w+) > (\w+), 0\)",
        r"grad * is_less(\1, \2)",
    ),
    (r"self: atan2_backward\(.*\)", "grad * (other / (self ** 2 + other ** 2))"),
    (r"other: atan2_backward\(.*\)", "grad * (-self / (self ** 2 + other ** 2))"),
    (r"self: where\(condition, grad, 0\)", "grad * where(condition, 1, 0)"),
    (r"other: where\(condition, 0, grad\)", "grad * where(condition, 0, 1)"),
    (r"self: weight\.isComplex\(\) .*", "grad * (1 - weight)"),
    (r"self: grad\.masked_fill\(mask, 0\)", "grad * where(mask, 0, 1)"),
    (r"value: masked_fill_backward\(grad, mask\)", "grad * where(mask, 1, 0)"),
    (r"self: grad \* self\.sgn\(\)", "grad * (self / abs(self) if is_complex else sgn(self))"),
    (
        r"input: .*native_dropout_backward\(.*",
        "grad * where_kept(result1, 0 if p == 1 else 1 / (1 - p))",
    ),
    (r"self: _prelu_kernel_backward\(.*\)", "grad * where(self > 0, 1, weight)"),
    (r"weight: _prelu_kernel_backward\(.*\)", "grad * where(self > 0, 0, self)"),
    (r"self: glu_backward\(.*\)", "through_gate(grad, self, dim)"),
    (r"self: xlogy\(grad, other\).*", "grad * log(other)"),
    (r"other: -grad \* self\.div\(other, .*floor.*\)", "-grad * floored(self, other)"),
    # reductions
    (r"self: sum_backward\(.*\)", _KEPT),
    (r"self: grad\.expand\(self\.sym_sizes\(\)\) / self\.sym_numel\(\)", "grad / copies"),
    (r"self: mean_backward\(.*\)", f"{_KEPT} / copies"),
    (r"self: prod_backward\(grad, self, result\)", "grad * (result / self)"),
    (r"self: prod_backward\(grad, self, result, dim, keepdim\)", f"{_KEPT} * ({_RESULT} / self)"),
    (r"self: evenly_distribute_backward\(.*\)", "grad * even_share(self == result, None)"),
    (
        r"self: value_selecting_reduction_backward\(grad, dim, indices, .*, (keepdim|true)\)",
        r"at_selected(kept(grad, dim, \1, shape), dim, kept(indices, dim, \1, shape), shape)",
    ),
    (r"self: scale_grad_by_count\(.*\)", f"{_KEPT} * even_share(self == {_RESULT}, dim)"),
    (r"self: var_backward\(.*\)", f"{_KEPT} * (2 * (self - mean_over(self, dim)) / {_FREE})"),
    (
        r"self: std_backward\(.*\)",
        f"{_KEPT} * ((self - mean_over(self, dim)) / ({_FREE} * {_RESULT}))",
    ),
    (
        r"self: linalg_vector_norm_backward\(.*\)",
        f"{_KEPT} * (self / {_RESULT} if ord == 2 else sgn(self) if ord == 1 else "
        f"sgn(self) * even_share(abs(self) == {_RESULT}, dim) if ord == inf else "
        f"sgn(self) * abs(self) ** (ord - 1) / {_RESULT} ** (ord - 1))",
    ),
    (r"self: cumsum_backward\(.*\)", "sum_from_here(grad, dim)"),
    (r"self: cumprod_backward\(.*\)", "sum_from_here(grad * result, dim) / self"),
    (r"self: logsumexp_backward\(.*\)", f"{_KEPT} * exp(self - {_RESULT})"),
    (r"self: _softmax_backward_data\(.*\)", "result * (grad - sum_over(grad * result, dim))"),
    (r"self: _log_softmax_backward_data\(.*\)", "grad - exp(result) * sum_over(grad, dim)"),
    # losses; reduction is 0 for none, 1 for mean, 2 for sum
    (r"\w+: mse_loss_backward\(grad, (\w+), (\w+), .*\)", rf"grad * (2 * (\1 - \2) / {_MEAN})"),
    (
        r"\w+: smooth_l1_loss_backward\(grad, (\w+), (\w+), .*\)",
        rf"grad * (where(abs(\1 - \2) < beta, (\1 - \2) / beta, sgn(\1 - \2)) / {_MEAN})",
    ),
    (
        r"\w+: huber_loss_backward\(grad, (\w+), (\w+), .*\)",
        rf"grad * (where(abs(\1 - \2) <= delta, \1 - \2, delta * sgn(\1 - \2)) / {_MEAN})",
    ),
    (
        r"self: binary_cross_entropy_backward\(.*\)",
        "grad * ((self - target) / (self * (1 - self)) * (1 if weight is None else weight) "
        f"/ {_MEAN})",
    ),
    (
        r"target: binary_cross_entropy_target_backward\(.*\)",
        f"grad * (log((1 - self) / self) * (1 if weight is None else weight) / {_MEAN})",
    ),
    (
        r"self: binary_cross_entropy_with_logits_backward\(.*\)",
        "grad * ((sigmoid(self) - target if pos_weight is None else "
        "(1 + (pos_weight - 1) * target) * sigmoid(self) - pos_weight * target) "
        f"* (1 if weight is None else weight) / {_MEAN})",
    ),
    (
        r"target: binary_cross_entropy_with_logits_target_backward\(.*\)",
        "grad * ((-self if pos_weight is None else "
        "log(1 - sigmoid(self)) - pos_weight * log(sigmoid(self))) "
        f"* (1 if weight is None else weight) / {_MEAN})",
    ),
    (
        r"self: nll_loss(?:2d)?_backward\(.*\)",
        "kept(grad, 1, False, shape) * (minus_at_target(target, ignore_index, shape) "
        "* (1 if weight is None else per_class(weight, shape)) "
        "/ (total_weight if reduction == 1 else 1))",
    ),
    # products of matrices
    (r"\w+: mm_mat1_backward\(grad, (\w+), .*, (\w+)\)", r"(grad @ \1.mT) * \2"),
    (r"\w+: mm_mat2_backward\(grad, (\w+), .*, (\w+)\)", r"(\1.mT @ grad) * \2"),
    (r"query: _scaled_dot.*_for_cpu_backward\(.*\)", f"({_SCORES} @ key) * {_SCALE}"),
    (r"key: _scaled_dot.*_for_cpu_backward\(.*\)", f"({_SCORES}.mT @ query) * {_SCALE}"),
    (r"value: _scaled_dot.*_for_cpu_backward\(.*\)", f"{_WEIGHTS}.mT @ grad"),
    # layers
    (r"input: convolution_backward\(.*\)", f"convolved_back(grad, weight, {_CONV})"),
    (r"weight: convolution_backward\(.*\)", f"correlated(grad, input, {_CONV})"),
    (r"bias: convolution_backward\(.*\)", "per_channel(grad)"),
    (r"self: max_pool2d_with_indices_backward\(.*\)", "to_largest(grad, result1, shape)"),
    (r"self: adaptive_max_pool2d_backward\(.*\)", "to_largest(grad, result1, shape)"),
    (
        r"self: avg_pool2d_backward\(.*\)",
        "shared_by_window(grad, kernel_size, stride, padding, ceil_mode, count_include_pad, "
        "divisor_override, shape)",
    ),
    (r"self: _adaptive_avg_pool2d_backward\(.*\)", "shared_adaptively(grad, shape)"),
    (r"self: upsample_nearest2d_backward\(.*\)", "added_over_copies(grad, shape)"),
    (
        r"input: native_batch_norm_backward\(.*\)",
        f"centred({_WEIGHTED}, input, {_USED}, batch_dims(shape)) if training else "
        f"{_WEIGHTED} * inverse_used(result2, running_var, training, eps, shape)",
    ),
    (
        r"weight: native_batch_norm_backward\(.*\)",
        f"per_channel(grad * standardised(input, {_CHANNELS}))",
    ),
    (r"bias: native_batch_norm_backward\(.*\)", "per_channel(grad)"),
    (
        r"input: native_layer_norm_backward\(.*\)",
        "centred(grad * (1 if weight is None else weight), input, result1, result2, "
        "last_dims(normalized_shape))",
    ),
    (
        r"weight: native_layer_norm_backward\(.*\)",
        "grad * standardised(input, result1, result2)",
    ),
    (r"bias: native_layer_norm_backward\(.*\)", "grad"),
    (
        r"input: .*native_group_norm_backward\(.*\)",
        f"ungrouped(centred(in_groups({_WEIGHTED}, group), in_groups(input, group), "
        "per_group(result1), per_group(result2), -1), shape)",
    ),
    (
        r"weight: .*native_group_norm_backward\(.*\)",
        "per_channel(grad * ungrouped(standardised(in_groups(input, group), "
        "per_group(result1), per_group(result2)), input_shape))",
    ),
    (r"bias: .*native_group_norm_backward\(.*\)", "per_channel(grad)"),
    (
        r"weight: embedding_backward\(.*\)",
        f"({_WORDS}) if padding_idx < 0 else emptied_word({_WORDS}, padding_idx)",
    ),
    # indexing
    (r"self: select_backward\(.*\)", "at_index(grad, dim, index, shape)"),
    (r"self: slice_backward_wrapper\(.*\)", "in_slice(grad, dim, start, end, step, shape)"),
    (r"self: index_backward\(.*\)", "added_at(grad, indices, shape)"),
    (r"self: index_select_backward\(.*\)", "added_to_rows(grad, dim, index, shape)"),
    (r"self: gather_backward\(.*\)", "at_selected(grad, dim, index, shape)"),
    (r"self: masked_select_backward\(.*\)", "at_mask(grad, mask, shape)"),
    (r"self: take_backward\(.*\)", "added_flat(grad, index, shape)"),
    (r"self: grad\.scatter\(dim, index, 0\)", "emptied_places(grad, dim, index)"),
    (r"src: grad\.gather\(dim, index\)", "read_places(grad, dim, index)"),
    (r"self: grad\.index_fill\(dim, index, 0\)", "emptied_rows(grad, dim, index)"),
    (
        r"source: maybe_multiply\(source\.dim\(\) > 0 \? .*, alpha\)",
        "read_rows(grad, dim, index) * alpha",
    ),
    (r"source: source\.dim\(\) > 0 \? .*", "read_rows(grad, dim, index)"),
    (r"self: accumulate \? grad : .*", "grad if accumulate else emptied_at(grad, indices)"),
    (r"values: grad\.index\(indices\)", "read_at(grad, indices)"),
    (r"tensors: cat_tensors_backward\(.*\)", "part_of(grad, dim, position, shapes, shape)"),
    (r"tensors: stack_tensors_backward\(.*\)", "taken_at(grad, dim, position)"),
    (r"self: split_backward\(.*\)", "joined_pieces(grads, dim, split_size, shape)"),
    (r"self: split_with_sizes_backward\(.*\)", "joined_pieces(grads, dim, split_sizes, shape)"),
    (r"self: unbind_backward\(.*\)", "stacked_pieces(grads, dim)"),
    (r"self: grad\.triu\(diagonal\)", "triu(grad, diagonal)"),
    (r"self: grad\.tril\(diagonal\)", "tril(grad, diagonal)"),
    (r"self: grad\.flip\(dims\)", "flipped(grad, dims)"),
    (r"self: grad\.roll\(.*\)", "rolled(grad, shifts, dims)"),
    (r"self: repeat_backward\(.*\)", "unrepeated(grad, repeats, shape)"),
    (r"self: constant_pad_nd_backward\(.*\)", "unpadded(grad, pad)"),
    (r"self: diagonal_backward\(.*\)", "on_diagonal(grad, offset, dim1, dim2, shape)"),
    (r"self: trace_backward\(.*\)", "on_diagonal(grad, 0, 0, 1, shape)"),
    (r"self: unfold_backward\(.*\)", "added_windows(grad, dimension, size, step, shape)"),
    (
        r"self: as_strided_backward\(.*\)",
        "added_strided(grad, size, stride, storage_offset, shape)",
    ),
    # what only moves
    (r"self: grad\.reshape(?:_as)?\(.*\)", "reshaped(grad, shape)"),
    (r"self: unsqueeze_to\(.*\)", "reshaped(grad, shape)"),
    (r"self: grad\.squeeze\(dim\)", "reshaped(grad, shape)"),
    (r"self: grad\.t\(\)", "transposed(grad, 0, 1)"),
    (r"self: grad\.transpose\(dim0, dim1\)", "transposed(grad, dim0, dim1)"),
    (r"self: permute_backwards\(grad, dims\)", "permuted(grad, dims)"),
)
