"""Rules of distributions in `scipy.stats`: loaded when it is.

A distribution is its standard form, moved and stretched. The formulas of the standard forms are
read from SciPy's source; what is checked and broadcast around them there is left out.
"""

import math

import numpy as np
import scipy.special as sc
import scipy.stats as ss
from scipy.stats.distributions import rv_frozen

from srcad.errors import MissingRule
from srcad.rules.registry import composition, is_literal, methods_of_copies

CONTINUOUS = (
    *(ss.norm, ss.expon, ss.gamma, ss.beta, ss.chi2, ss.t, ss.cauchy, ss.laplace, ss.logistic),
    *(ss.lognorm, ss.uniform, ss.halfnorm, ss.halfcauchy, ss.gumbel_r, ss.gumbel_l, ss.rayleigh),
    *(ss.maxwell, ss.weibull_min, ss.pareto, ss.invgamma, ss.powerlaw),
)
DISCRETE = (ss.poisson, ss.binom, ss.bernoulli, ss.geom, ss.nbinom)


def t_log_density(y, df):
    return -np.log(df) / 2 - sc.betaln(0.5, df / 2) - (df + 1) / 2 * np.log1p(y * y / df)


def cauchy_log_density(y):
    return -math.log(math.pi) - np.log1p(y * y)


def lognorm_log_density(y, s):
    z = np.log(y) / s
    return -z * z / 2 - np.log(s * y) - math.log(2 * math.pi) / 2


FORMULAS = {
    ss.t: t_log_density,
    ss.cauchy: cauchy_log_density,
    ss.lognorm: lognorm_log_density,
}
"""Where SciPy's source chooses formulas in a way that cannot be read."""


def beta_quantile(q, a, b):
    return sc.betaincinv(a, b, q)


def beta_upper_quantile(q, a, b):
    return sc.betainccinv(a, b, q)


def cauchy_quantile(q):
    return np.tan(math.pi * q - math.pi / 2)


def cauchy_upper_quantile(q):
    return np.tan(math.pi / 2 - math.pi * q)


QUANTILES = {
    ss.beta: (beta_quantile, beta_upper_quantile),
    ss.cauchy: (cauchy_quantile, cauchy_upper_quantile),
}
"""Where SciPy calls a function of its own that has neither a rule nor a source."""


def logarithm(form, name, other):
    """The logarithm of a share: the form's own formula, or the share or 1 minus the other's."""
    own = getattr(form, "_log" + name)
    if own.__func__ is not getattr(ss.rv_continuous, "_log" + name):
        return own
    share, rest = getattr(form, "_" + name), getattr(form, "_" + other)

    def formula(y, *parameters):
        p, q = share(y, *parameters), rest(y, *parameters)
        small = np.where(p > 0, np.log(np.where(p > 0, p, 1.0)), -np.inf)
        return np.where(p < 0.5, small, np.log1p(-np.where(p < 0.5, 0.0, q)))

    return formula


def in_double(x):
    """Where SciPy computes in double precision, whatever it is given."""
    return np.asarray(x, float) if np.result_type(x) == np.float32 else x


def moved(shapes, args, named):
    """The parameters of the form, the place and the scale, in one of SciPy's ways to give them."""
    n = len(shapes)
    form = args[:n] if len(args) >= n else (*args, *[named[name] for name in shapes[len(args) :]])
    loc = args[n] if len(args) > n else named.get("loc", 0)
    scale = args[n + 1] if len(args) > n + 1 else named.get("scale", 1)
    if not is_literal(scale):
        scale = np.where(scale > 0, in_double(scale), np.nan)
    return [in_double(p) for p in form], loc, scale


def declare_continuous(form):
    shapes = tuple(form.shapes.split(", ")) if form.shapes else ()
    low, high = float(form.a), float(form.b)
    middle = (low + high) / 2 if math.isfinite(high) else low + 1
    everywhere = math.isinf(low)
    log_formula = FORMULAS.get(form, form._logpdf)

    def of_standard_form(formula, y, parameters, before, after):
        """What a formula gives inside the support, and what holds before and after it."""
        if everywhere:
            return formula(y, *parameters)
        inner = np.where((y < low) | (y > high), middle, y)
        value = formula(inner, *parameters)
        return np.where(y < low, before, np.where(y > high, after, value))

    def log_density(x, args, named):
        parameters, loc, scale = moved(shapes, args, named)
        y = in_double((x - loc) / scale)
        return of_standard_form(log_formula, y, parameters, -np.inf, -np.inf) - np.log(scale)

    @composition(form.logpdf, wrt=("x", "args", "named"))
    def logpdf(x, *args, **named):
        return log_density(x, args, named)

    @composition(form.pdf, wrt=("x", "args", "named"))
    def pdf(x, *args, **named):
        return np.exp(log_density(x, args, named))

    def declare_share(share, formula, before, after):
        @composition(share, wrt=("x", "args", "named"))
        def share_of(x, *args, **named):
            parameters, loc, scale = moved(shapes, args, named)
            y = in_double((x - loc) / scale)
            return of_standard_form(formula, y, parameters, before, after)

    declare_share(form.cdf, form._cdf, 0.0, 1.0)
    declare_share(form.sf, form._sf, 1.0, 0.0)
    declare_share(form.logcdf, logarithm(form, "cdf", "sf"), -np.inf, 0.0)
    declare_share(form.logsf, logarithm(form, "sf", "cdf"), 0.0, -np.inf)

    def declare_quantile(quantile, formula):
        @composition(quantile, wrt=("q", "args", "named"))
        def quantile_of(q, *args, **named):
            parameters, loc, scale = moved(shapes, args, named)
            return formula(q, *parameters) * scale + loc

    lower, upper = QUANTILES.get(form, (form._ppf, form._isf))
    declare_quantile(form.ppf, lower)
    declare_quantile(form.isf, upper)


def declare_discrete(form):
    shapes = tuple(form.shapes.split(", "))

    def log_mass(k, args, named):
        parameters, loc, _ = moved(shapes, args, named)
        n = np.asarray(k) - loc
        there = (n >= form.a) & (n == np.floor(n))
        return np.where(there, form._logpmf(np.where(there, n, form.a), *parameters), -np.inf)

    @composition(form.logpmf, wrt=("args", "named"))
    def logpmf(k, *args, **named):
        return log_mass(k, args, named)

    @composition(form.pmf, wrt=("args", "named"))
    def pmf(k, *args, **named):
        return np.exp(log_mass(k, args, named))


for _form in CONTINUOUS:
    declare_continuous(_form)
for _form in DISCRETE:
    declare_discrete(_form)


@composition(ss.multivariate_normal.logpdf, wrt=("x", "mean", "cov"))
def multivariate_normal_logpdf(x, mean=None, cov=1, allow_singular=False):
    """By the factor of Cholesky."""
    vectors = np.ndim(x) > 0 and (np.ndim(cov) > 0 or (mean is not None and np.ndim(mean) > 0))
    if allow_singular or not vectors:
        raise MissingRule(None, "multivariate_normal is supported for vectors, of full rank")
    n = np.shape(mean)[0] if np.ndim(cov) == 0 else np.shape(cov)[0]
    rest = x if mean is None else x - mean
    if np.ndim(cov) == 2:
        root = np.linalg.cholesky(cov)
    else:
        root = np.sqrt(cov) * np.eye(n)
    z = np.linalg.solve(root, np.reshape(rest, (-1, n)).T)
    squares = np.reshape(np.sum(z * z, 0), np.shape(rest)[:-1])
    return -(n * math.log(2 * math.pi) + squares) / 2 - np.sum(np.log(np.diag(root)))


@composition(ss.multivariate_normal.pdf, wrt=("x", "mean", "cov"))
def multivariate_normal_pdf(x, mean=None, cov=1, allow_singular=False):
    return np.exp(ss.multivariate_normal.logpdf(x, mean, cov, allow_singular))


@composition(rv_frozen.__init__, wrt=("args", "kwds"))
def freeze(self, dist, *args, **kwds):
    self.args, self.kwds = args, kwds
    self.dist = dist


DECLARED = {type(form): form for form in (*CONTINUOUS, *DISCRETE)}


def declared(form):
    """The distribution that has the rules, of one that is the same: frozen ones keep copies."""
    found = DECLARED.get(type(form), form)
    return found if (found.a, found.b) == (form.a, form.b) else form


methods_of_copies(ss.rv_continuous, declared)
methods_of_copies(ss.rv_discrete, declared)
