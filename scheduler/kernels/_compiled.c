/* Loops over the rows of nodes; _compiled.pyi says what each takes and gives.
 *
 * Each has a twin that comes to the very same, which is asked where the loop can not tell. Amounts are exact below
 * 2**53: up to there nothing overflows, and a quotient of doubles, truncated, is that of the integers. Floats come out as
 * those of NumPy do only if nothing is fused or reordered: no -ffast-math, and -ffp-contract=off.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#include <numpy/arrayobject.h>

#define MOST_RESOURCES 8
#define EXACT (INT64_C(1) << 53)
#define MAX_NODE_SCORE 100

enum kind { LEAST, MOST, BALANCE, ROOM };

static const char *const KINDS[] = {"least", "most", "balance", "room", NULL};

typedef struct {
    PyObject_HEAD
    enum kind kind;
    int count;
    int nonzero;
    npy_intp index[MOST_RESOURCES];
    npy_int64 amount[MOST_RESOURCES];
    npy_int64 weight[MOST_RESOURCES];
} Formula;

typedef struct {
    const npy_int64 *allocatable, *requested, *nonzero, *allowed, *pods;
    npy_intp resources, capacity;
} Columns;

static int
is_vector(PyObject *object, int type)
{
    return PyArray_Check(object) && PyArray_TYPE((PyArrayObject *)object) == type &&
           PyArray_NDIM((PyArrayObject *)object) == 1 && PyArray_IS_C_CONTIGUOUS((PyArrayObject *)object) &&
           PyArray_ISALIGNED((PyArrayObject *)object);
}

static int
parse_columns(PyObject *object, Columns *columns)
{
    if (!PyTuple_Check(object) || PyTuple_GET_SIZE(object) != 5)
        goto wrong;
    for (int i = 0; i < 5; i++) {
        PyArrayObject *array = (PyArrayObject *)PyTuple_GET_ITEM(object, i);
        int dimensions = i < 3 ? 2 : 1;
        if (!PyArray_Check((PyObject *)array) || PyArray_TYPE(array) != NPY_INT64 ||
            PyArray_NDIM(array) != dimensions || !PyArray_IS_C_CONTIGUOUS(array))
            goto wrong;
        npy_intp length = PyArray_DIM(array, dimensions - 1);
        if (i == 0) {
            columns->capacity = length;
            columns->resources = PyArray_DIM(array, 0);
        }
        else if (length != columns->capacity)
            goto wrong;
        const npy_int64 *data = PyArray_DATA(array);
        switch (i) {
        case 0: columns->allocatable = data; break;
        case 1:
            columns->requested = data;
            if (PyArray_DIM(array, 0) != columns->resources)
                goto wrong;
            break;
        case 2:
            columns->nonzero = data;
            if (PyArray_DIM(array, 0) != 2)
                goto wrong;
            break;
        case 3: columns->allowed = data; break;
        default: columns->pods = data;
        }
    }
    return 0;
wrong:
    PyErr_SetString(PyExc_TypeError,
                    "columns must be five int64 arrays: allocatable, requested, nonzero, allowed pods, pods");
    return -1;
}

static inline npy_int64
wrapped_difference(npy_int64 left, npy_int64 right)
{
    return (npy_int64)((npy_uint64)left - (npy_uint64)right);
}

static inline double
share_in_use(npy_int64 requested, npy_int64 allocatable)
{
    double share = (double)requested / (double)allocatable;
    return share < 1.0 ? share : 1.0;
}

static inline npy_int64
balance(const npy_int64 *requested, const npy_int64 *allocatable)
{
    double distance = share_in_use(requested[0], allocatable[0]) - share_in_use(requested[1], allocatable[1]);
    if (distance < 0)
        distance = -distance;
    return (npy_int64)((1.0 - distance / 2) * MAX_NODE_SCORE);
}

/* What is requested of a resource, by row. */
static const npy_int64 *
requested_of(const Formula *formula, const Columns *columns, int resource)
{
    npy_intp index = formula->index[resource];
    return (formula->nonzero && index < 2 ? columns->nonzero : columns->requested) + index * columns->capacity;
}

static const npy_int64 *
allocatable_of(const Formula *formula, const Columns *columns, int resource)
{
    return columns->allocatable + formula->index[resource] * columns->capacity;
}

static int
fits(const Formula *formula, const Columns *columns)
{
    for (int i = 0; i < formula->count; i++)
        if (formula->index[i] >= columns->resources) {
            PyErr_SetString(PyExc_IndexError, "the columns have no such resource");
            return 0;
        }
    return 1;
}

static int
row_in(npy_intp row, npy_intp length)
{
    if (row >= 0 && row < length)
        return 1;
    PyErr_Format(PyExc_IndexError, "there is no row %zd", row);
    return 0;
}

static int
are_in(const npy_intp *rows, npy_intp count, npy_intp length)
{
    int outside = 0;
    for (npy_intp i = 0; i < count; i++)
        outside |= (size_t)rows[i] >= (size_t)length; /* those below 0 as well */
    for (npy_intp i = 0; outside && i < count; i++)
        if (!row_in(rows[i], length))
            return 0;
    return 1;
}

/* Many rows at once, for the compiler to take several at a time: no branches but on what is the same for all rows. */

#define ROW(i) (rows ? rows[i] : (i))
#define FOR_EACH_ROW for (npy_intp i = 0; i < length; i++)

/* All bits of what has to be exact, so that one look tells: below zero they are all set at the top. */
static npy_uint64
bits_of(const Formula *formula, const Columns *columns, const npy_intp *rows, npy_intp length, npy_uint64 *capacities)
{
    npy_uint64 bits = 0, has = 0;
    for (int k = 0; k < formula->count; k++) {
        const npy_int64 *requested = requested_of(formula, columns, k);
        const npy_int64 *allocatable = allocatable_of(formula, columns, k);
        npy_uint64 amount = (npy_uint64)formula->amount[k];
        FOR_EACH_ROW
        {
            npy_uint64 before = (npy_uint64)requested[ROW(i)];
            bits |= before | (before + amount);
            has |= (npy_uint64)allocatable[ROW(i)];
        }
    }
    *capacities = has;
    return bits | has;
}

static void
find_codes(
    const Formula *formula, const Columns *columns, const npy_intp *rows, npy_intp length, npy_uint8 *codes)
{
    FOR_EACH_ROW codes[i] = columns->pods[ROW(i)] >= columns->allowed[ROW(i)];
    for (int k = 0; k < formula->count; k++) {
        const npy_int64 *requested = requested_of(formula, columns, k);
        const npy_int64 *allocatable = allocatable_of(formula, columns, k);
        npy_int64 amount = formula->amount[k];
        FOR_EACH_ROW
        {
            npy_int64 there = allocatable[ROW(i)];
            int is_short = wrapped_difference(there, requested[ROW(i)]) < amount;
            codes[i] |= (npy_uint8)((is_short << (2 + k)) | ((is_short & (there < amount)) << 1));
        }
    }
}

/* `is_small` tells that a hundred times of each capacity is exact; `weights` is room for a number a row. */
static void
find_means(
    const Formula *formula, const Columns *columns, const npy_intp *rows, npy_intp length, int is_small,
    npy_int64 *scores, npy_int64 *weights)
{
    FOR_EACH_ROW scores[i] = weights[i] = 0;
    for (int k = 0; k < formula->count; k++) {
        const npy_int64 *requested = requested_of(formula, columns, k);
        const npy_int64 *allocatable = allocatable_of(formula, columns, k);
        npy_int64 amount = formula->amount[k], weight = formula->weight[k];
        int least = formula->kind == LEAST;
        FOR_EACH_ROW
        {
            npy_int64 has = allocatable[ROW(i)], wanted = requested[ROW(i)] + amount;
            npy_int64 used = wanted < has ? wanted : has, part = least ? has - used : used;
            npy_int64 percents = part * MAX_NODE_SCORE, whole = has ? has : 1;
            npy_int64 share = is_small ? (npy_int64)((double)percents / (double)whole) : percents / whole;
            scores[i] += share * weight;
            weights[i] += has ? weight : 0;
        }
    }
    FOR_EACH_ROW scores[i] = (npy_int64)((double)scores[i] / (double)(weights[i] ? weights[i] : 1));
}

static void
find_balances(
    const Formula *formula, const Columns *columns, const npy_intp *rows, npy_intp length, npy_int64 *scores)
{
    const npy_int64 *requested[2] = {requested_of(formula, columns, 0), requested_of(formula, columns, 1)};
    const npy_int64 *allocatable[2] = {allocatable_of(formula, columns, 0), allocatable_of(formula, columns, 1)};
    FOR_EACH_ROW
    {
        npy_int64 has[2] = {allocatable[0][ROW(i)], allocatable[1][ROW(i)]};
        npy_int64 before[2] = {requested[0][ROW(i)], requested[1][ROW(i)]};
        npy_int64 wanted[2] = {before[0] + formula->amount[0], before[1] + formula->amount[1]};
        npy_int64 whole[2] = {has[0] ? has[0] : 1, has[1] ? has[1] : 1};
        npy_int64 change = balance(wanted, whole) - balance(before, whole); /* both are 50 to 100 */
        int half = MAX_NODE_SCORE / 2;
        scores[i] = half + (half + (has[0] && has[1] ? change : 0)) / 2;
    }
}

/* The values of these rows, or of the first ones: 1 if all is well, 0 if a number is not exact, -1 for an error. */
static int
reckon(const Formula *formula, const Columns *columns, const npy_intp *rows, npy_intp length, void *values)
{
    if (formula->kind == ROOM) {
        find_codes(formula, columns, rows, length, values);
        return 1;
    }
    npy_uint64 capacities;
    if (bits_of(formula, columns, rows, length, &capacities) >= (npy_uint64)EXACT)
        return 0;
    if (formula->kind == BALANCE) {
        find_balances(formula, columns, rows, length, values);
        return 1;
    }
    npy_int64 one, *weights = length == 1 ? &one : PyMem_New(npy_int64, length);
    if (weights == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    find_means(formula, columns, rows, length, capacities < (npy_uint64)EXACT / MAX_NODE_SCORE, values, weights);
    if (weights != &one)
        PyMem_Free(weights);
    return 1;
}

static int
parse_call(const Formula *formula, PyObject *const *args, Py_ssize_t count, Columns *columns, const char *usage)
{
    if (count != 2) {
        PyErr_SetString(PyExc_TypeError, usage);
        return 0;
    }
    return parse_columns(args[0], columns) == 0 && fits(formula, columns);
}

static PyObject *
formula_at(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    Formula *formula = (Formula *)self;
    Columns columns;
    if (!parse_call(formula, args, count, &columns, "at() takes the columns and a row"))
        return NULL;
    npy_intp row = PyLong_AsSsize_t(args[1]);
    if ((row == -1 && PyErr_Occurred()) || !row_in(row, columns.capacity))
        return NULL;
    npy_int64 score;
    npy_uint8 code;
    int is_room = formula->kind == ROOM;
    int done = reckon(formula, &columns, &row, 1, is_room ? (void *)&code : (void *)&score);
    if (done < 0)
        return NULL;
    if (!done)
        Py_RETURN_NONE;
    return PyLong_FromLongLong(is_room ? code : score);
}

static PyObject *
formula_of(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    Formula *formula = (Formula *)self;
    Columns columns;
    const npy_intp *rows = NULL;
    npy_intp length;
    if (!parse_call(formula, args, count, &columns, "of() takes the columns, and rows or how many of the first ones"))
        return NULL;
    if (is_vector(args[1], NPY_INTP)) {
        rows = PyArray_DATA((PyArrayObject *)args[1]);
        length = PyArray_DIM((PyArrayObject *)args[1], 0);
        if (!are_in(rows, length, columns.capacity))
            return NULL;
    }
    else {
        length = PyLong_AsSsize_t(args[1]);
        if (length == -1 && PyErr_Occurred())
            return NULL;
        if (length && !row_in(length - 1, columns.capacity))
            return NULL;
    }
    PyObject *result = PyArray_SimpleNew(1, &length, formula->kind == ROOM ? NPY_UINT8 : NPY_INT64);
    if (result == NULL)
        return NULL;
    int done = reckon(formula, &columns, rows, length, PyArray_DATA((PyArrayObject *)result));
    if (done > 0)
        return result;
    Py_DECREF(result);
    if (done < 0)
        return NULL;
    Py_RETURN_NONE;
}

static int
numbers(PyObject *sequence, npy_int64 *into, const char *name)
{
    PyObject *fast = PySequence_Fast(sequence, "a sequence of numbers is needed");
    if (fast == NULL)
        return -1;
    Py_ssize_t count = PySequence_Fast_GET_SIZE(fast);
    if (count > MOST_RESOURCES) {
        PyErr_Format(PyExc_ValueError, "too many %s", name);
        count = -1;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        into[i] = PyLong_AsLongLong(PySequence_Fast_GET_ITEM(fast, i));
        if (into[i] == -1 && PyErr_Occurred())
            count = -1;
    }
    Py_DECREF(fast);
    return (int)count;
}

static PyObject *
formula_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"kind", "indices", "amounts", "weights", "nonzero", NULL};
    const char *kind;
    PyObject *indices, *amounts, *weights;
    int nonzero;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "sOOOp", names, &kind, &indices, &amounts, &weights, &nonzero))
        return NULL;
    int found = 0;
    while (KINDS[found] && strcmp(KINDS[found], kind))
        found++;
    if (!KINDS[found])
        return PyErr_Format(PyExc_ValueError, "there is no formula %s", kind);
    Formula *formula = (Formula *)type->tp_alloc(type, 0);
    if (formula == NULL)
        return NULL;
    npy_int64 index[MOST_RESOURCES];
    formula->kind = (enum kind)found;
    formula->nonzero = nonzero && found != ROOM; /* room is for what is really requested */
    formula->count = numbers(indices, index, "resources");
    int several = formula->count;
    if (several < 0 || numbers(amounts, formula->amount, "amounts") != several ||
        numbers(weights, formula->weight, "weights") != several || (found == BALANCE && several != 2) ||
        (found == ROOM && several > 6)) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_ValueError, "the formula is not for so many resources, amounts or weights");
        Py_DECREF(formula);
        return NULL;
    }
    for (int i = 0; i < several; i++) {
        if (index[i] < 0 || formula->weight[i] < 0 || formula->weight[i] > EXACT / 1000000) {
            PyErr_SetString(PyExc_ValueError, "an index or a weight is out of range");
            Py_DECREF(formula);
            return NULL;
        }
        formula->index[i] = (npy_intp)index[i];
    }
    return (PyObject *)formula;
}

static void
formula_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyMethodDef formula_methods[] = {
    {"at", (PyCFunction)(void (*)(void))formula_at, METH_FASTCALL, NULL},
    {"of", (PyCFunction)(void (*)(void))formula_of, METH_FASTCALL, NULL},
    {NULL},
};

static PyType_Slot formula_slots[] = {
    {Py_tp_new, formula_new},
    {Py_tp_dealloc, formula_dealloc},
    {Py_tp_methods, formula_methods},
    {0, NULL},
};

static PyType_Spec formula_spec = {
    .name = "scheduler.kernels._compiled.Formula",
    .basicsize = sizeof(Formula),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = formula_slots,
};

/* Copies what the rows hold, and tells whether it is the part. */
#define GATHER(name, type)                                                                                            \
    static int name(const type *vector, const npy_intp *rows, const type *part, npy_intp length, type *into)         \
    {                                                                                                                 \
        int same = 1;                                                                                                 \
        FOR_EACH_ROW                                                                                                  \
        {                                                                                                             \
            into[i] = vector[rows[i]];                                                                                \
            same &= into[i] == part[i];                                                                               \
        }                                                                                                             \
        return same;                                                                                                  \
    }
GATHER(gather_wide, npy_int64)
GATHER(gather_bytes, npy_uint8)

static PyObject *
known(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    (void)module;
    if (count != 3) {
        PyErr_SetString(PyExc_TypeError, "known() takes a vector, rows and a part");
        return NULL;
    }
    int type = is_vector(args[0], NPY_INT64) ? NPY_INT64 : NPY_UINT8;
    if (!is_vector(args[0], type) || !is_vector(args[1], NPY_INTP) || !is_vector(args[2], type))
        Py_RETURN_FALSE;
    npy_intp length = PyArray_DIM((PyArrayObject *)args[0], 0), some = PyArray_DIM((PyArrayObject *)args[1], 0);
    if (PyArray_DIM((PyArrayObject *)args[2], 0) != some)
        Py_RETURN_FALSE;
    const npy_intp *rows = PyArray_DATA((PyArrayObject *)args[1]);
    PyObject *found = are_in(rows, some, length) ? PyArray_SimpleNew(1, &some, type) : NULL;
    if (found == NULL)
        return NULL;
    const void *vector = PyArray_DATA((PyArrayObject *)args[0]), *part = PyArray_DATA((PyArrayObject *)args[2]);
    void *into = PyArray_DATA((PyArrayObject *)found);
    int same = type == NPY_INT64 ? gather_wide(vector, rows, part, some, into)
                                 : gather_bytes(vector, rows, part, some, into);
    if (same) {
        Py_DECREF(found);
        Py_RETURN_NONE;
    }
    return found;
}

static PyObject *
add_up(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    (void)module;
    if (count != 4 || !is_vector(args[0], NPY_INT64) || !(args[1] == Py_None || is_vector(args[1], NPY_INTP)) ||
        !PyList_Check(args[2]) || !PyList_Check(args[3]) || PyList_GET_SIZE(args[2]) != PyList_GET_SIZE(args[3])) {
        PyErr_SetString(PyExc_TypeError, "add_up() takes a sum, rows, and lists of vectors and of their weights");
        return NULL;
    }
    npy_uint64 *total = PyArray_DATA((PyArrayObject *)args[0]); /* which may overflow, as NumPy's may */
    npy_intp length = PyArray_DIM((PyArrayObject *)args[0], 0), shortest = length;
    for (Py_ssize_t k = 0; k < PyList_GET_SIZE(args[2]); k++) {
        PyObject *vector = PyList_GET_ITEM(args[2], k);
        if (!is_vector(vector, NPY_INT64))
            Py_RETURN_FALSE;
        npy_intp there = PyArray_DIM((PyArrayObject *)vector, 0);
        shortest = there < shortest ? there : shortest;
        if (PyLong_AsLongLong(PyList_GET_ITEM(args[3], k)) == -1 && PyErr_Occurred())
            return NULL;
    }
    const npy_intp *rows = NULL;
    if (args[1] != Py_None) {
        rows = PyArray_DATA((PyArrayObject *)args[1]);
        length = PyArray_DIM((PyArrayObject *)args[1], 0);
        if (!are_in(rows, length, shortest))
            return NULL;
    }
    else if (length && !row_in(length - 1, shortest))
        return NULL;
    for (Py_ssize_t k = 0; k < PyList_GET_SIZE(args[2]); k++) {
        const npy_int64 *scores = PyArray_DATA((PyArrayObject *)PyList_GET_ITEM(args[2], k));
        npy_uint64 weight = (npy_uint64)PyLong_AsLongLong(PyList_GET_ITEM(args[3], k));
        if (k)
            FOR_EACH_ROW total[ROW(i)] += (npy_uint64)scores[ROW(i)] * weight;
        else
            FOR_EACH_ROW total[ROW(i)] = (npy_uint64)scores[ROW(i)] * weight;
    }
    Py_RETURN_NONE;
}

static PyObject *
leaders(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    (void)module;
    if (count != 2 || !is_vector(args[0], NPY_INT64) || !is_vector(args[1], NPY_INTP)) {
        PyErr_SetString(PyExc_TypeError, "leaders() takes totals and rows");
        return NULL;
    }
    const npy_int64 *totals = PyArray_DATA((PyArrayObject *)args[0]);
    const npy_intp *rows = PyArray_DATA((PyArrayObject *)args[1]);
    npy_intp length = PyArray_DIM((PyArrayObject *)args[0], 0), some = PyArray_DIM((PyArrayObject *)args[1], 0);
    if (!are_in(rows, some, length))
        return NULL;
    npy_int64 top = NPY_MIN_INT64;
    for (npy_intp i = 0; i < some; i++)
        top = totals[rows[i]] > top ? totals[rows[i]] : top;
    npy_intp tied = 0;
    for (npy_intp i = 0; i < some; i++)
        tied += totals[rows[i]] == top;
    PyObject *found = PyArray_SimpleNew(1, &tied, NPY_INTP);
    if (found == NULL)
        return NULL;
    npy_intp *into = PyArray_DATA((PyArrayObject *)found);
    for (npy_intp i = 0, next = 0; next < tied; i++)
        if (totals[rows[i]] == top)
            into[next++] = rows[i];
    return Py_BuildValue("LN", (long long)top, found);
}

static PyObject *
distinct(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    (void)module;
    if (count != 4 || !PyList_Check(args[0]) || !PyList_Check(args[1]) ||
        PyList_GET_SIZE(args[0]) != PyList_GET_SIZE(args[1])) {
        PyErr_SetString(PyExc_TypeError, "distinct() takes lists of rows and of values, a place in them, and a mask");
        return NULL;
    }
    Py_ssize_t first = PyLong_AsSsize_t(args[2]), end = PyList_GET_SIZE(args[0]);
    long mask = PyLong_AsLong(args[3]);
    if (PyErr_Occurred())
        return NULL;
    if (first < 0 || first > end) {
        PyErr_Format(PyExc_IndexError, "there is no place %zd", first);
        return NULL;
    }
    size_t places = 16;
    while (places < 2 * (size_t)(end - first))
        places *= 2;
    npy_intp length = end - first, *seen = PyMem_New(npy_intp, places);
    PyObject *result = seen ? PyArray_SimpleNew(1, &length, NPY_INTP) : PyErr_NoMemory();
    if (result == NULL) {
        PyMem_Free(seen);
        return NULL;
    }
    npy_intp *into = PyArray_DATA((PyArrayObject *)result), found = 0;
    memset(seen, -1, places * sizeof *seen);
    for (Py_ssize_t i = first; i < end; i++) {
        long value = PyLong_AsLong(PyList_GET_ITEM(args[1], i));
        npy_intp row = PyLong_AsSsize_t(PyList_GET_ITEM(args[0], i));
        if ((value == -1 || row == -1) && PyErr_Occurred())
            goto failed;
        if (row < 0) {
            row_in(row, 0);
            goto failed;
        }
        if (!(value & mask))
            continue;
        size_t place = ((size_t)row * 0x9E3779B97F4A7C15u >> 20) & (places - 1);
        while (seen[place] != -1 && seen[place] != row)
            place = (place + 1) & (places - 1);
        if (seen[place] == -1) {
            seen[place] = row;
            into[found++] = row;
        }
    }
    PyMem_Free(seen);
    PyArray_DIMS((PyArrayObject *)result)[0] = found; /* what is beyond goes with the array */
    return result;
failed:
    PyMem_Free(seen);
    Py_DECREF(result);
    return NULL;
}

static PyObject *
narrowed(PyObject *module, PyObject *vector)
{
    (void)module;
    int type = is_vector(vector, NPY_INT64) ? NPY_INT64 : NPY_UINT8;
    if (!is_vector(vector, type) || !PyArray_DIM((PyArrayObject *)vector, 0))
        Py_RETURN_FALSE;
    npy_intp length = PyArray_DIM((PyArrayObject *)vector, 0);
    PyObject *result = PyArray_SimpleNew(1, &length, NPY_UINT8);
    if (result == NULL)
        return NULL;
    npy_uint8 *into = PyArray_DATA((PyArrayObject *)result);
    const npy_int64 *wide = PyArray_DATA((PyArrayObject *)vector);
    const npy_uint8 *bytes = PyArray_DATA((PyArrayObject *)vector);
    npy_int64 first = type == NPY_INT64 ? wide[0] : bytes[0];
    int same = 1, fits = 1;
    for (npy_intp i = 0; i < length; i++) {
        npy_int64 value = type == NPY_INT64 ? wide[i] : bytes[i];
        same &= value == first;
        fits &= value >= 0 && value <= 255;
        into[i] = (npy_uint8)value;
    }
    if (!same && fits)
        return result;
    Py_DECREF(result);
    if (same)
        return PyLong_FromLongLong(first);
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"known", (PyCFunction)(void (*)(void))known, METH_FASTCALL, NULL},
    {"add_up", (PyCFunction)(void (*)(void))add_up, METH_FASTCALL, NULL},
    {"leaders", (PyCFunction)(void (*)(void))leaders, METH_FASTCALL, NULL},
    {"distinct", (PyCFunction)(void (*)(void))distinct, METH_FASTCALL, NULL},
    {"narrowed", narrowed, METH_O, NULL},
    {NULL},
};

static int
prepare(PyObject *module)
{
    import_array1(-1);
    PyObject *type = PyType_FromModuleAndSpec(module, &formula_spec, NULL);
    if (type == NULL)
        return -1;
    int failed = PyModule_AddType(module, (PyTypeObject *)type);
    Py_DECREF(type);
    return failed;
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, prepare},
    {0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "scheduler.kernels._compiled",
    .m_methods = functions,
    .m_slots = slots,
};

PyMODINIT_FUNC
PyInit__compiled(void)
{
    return PyModuleDef_Init(&definition);
}
