// Sums of tables in logarithms, vectorised along the rows, or down the only column.

#include "kernels/tables.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/tables.cc"
#include <hwy/foreach_target.h>
// foreach_target.h comes first.
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include "kernels/partial-inl.h"

HWY_BEFORE_NAMESPACE();
namespace espalier::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Doubles = hn::CappedTag<double, 8>;
using V = hn::Vec<Doubles>;

// Highway's Exp(-infinity) is zero, but only after arithmetic on infinities: keep them out of it.
HWY_INLINE V exponential(Doubles d, V x) {
  return hn::IfThenElseZero(hn::Gt(x, hn::Set(d, -746.0)), hn::Exp(d, x));
}

// x, or 0 for -infinity: what may be subtracted from -infinity.
HWY_INLINE V finite(Doubles d, V x) {
  return hn::IfThenElseZero(hn::Gt(x, hn::Set(d, -std::numeric_limits<double>::infinity())), x);
}

double log_sum(const double* x, std::size_t n) {
  const Doubles d;
  const std::size_t lanes = hn::Lanes(d), whole = n / lanes * lanes;
  constexpr double kLowest = -std::numeric_limits<double>::infinity();
  // In the last, partial vector the lanes that do not exist count as -infinity, whose exponential is zero.
  const V last = whole < n ? load_first(d, x + whole, n - whole, kLowest) : hn::Set(d, kLowest);
  V maximum = last;
  for (std::size_t k = 0; k < whole; k += lanes) maximum = hn::Max(maximum, hn::LoadU(d, x + k));
  const double highest = hn::GetLane(hn::MaxOfLanes(d, maximum));
  if (highest == kLowest) return kLowest;
  const V shift = hn::Set(d, highest);
  V sum = exponential(d, hn::Sub(last, shift));
  for (std::size_t k = 0; k < whole; k += lanes) {
    sum = hn::Add(sum, exponential(d, hn::Sub(hn::LoadU(d, x + k), shift)));
  }
  return highest + std::log(hn::GetLane(hn::SumOfLanes(d, sum)));
}

void log_sum_rows_f64(const double* table, std::size_t rows, std::size_t width, double* out) {
  if (width == 1) {
    *out = log_sum(table, rows);
    return;
  }
  const Doubles d;
  const std::size_t lanes = hn::Lanes(d);
  constexpr double kLowest = -std::numeric_limits<double>::infinity();
  const auto column = [&](std::size_t k, const auto& load) HWY_ATTR {
    V highest = load(table + k);
    for (std::size_t r = 1; r < rows; ++r) highest = hn::Max(highest, load(table + r * width + k));
    const V shift = finite(d, highest);
    V sum = hn::Zero(d);
    for (std::size_t r = 0; r < rows; ++r) {
      sum = hn::Add(sum, exponential(d, hn::Sub(load(table + r * width + k), shift)));
    }
    // The sum is 1 or more, or 0 where the column is excluded.
    return hn::Add(highest, hn::Log(d, hn::Max(sum, hn::Set(d, 1.0))));
  };
  std::size_t k = 0;
  for (; k + lanes <= width; k += lanes) {
    hn::StoreU(column(k, [&](const double* from) HWY_ATTR { return hn::LoadU(d, from); }), d, out + k);
  }
  if (k < width) {
    const V last =
        column(k, [&](const double* from) HWY_ATTR { return load_first(d, from, width - k, kLowest); });
    hn::BlendedStore(last, hn::FirstN(d, width - k), d, out + k);
  }
}

void exp_rows_f64(double* table, std::size_t rows, std::size_t width, const double* shift) {
  const Doubles d;
  const std::size_t lanes = hn::Lanes(d);
  constexpr double kLowest = -std::numeric_limits<double>::infinity();
  if (width == 1) {
    const V all = hn::Set(d, *shift);
    const std::size_t whole = rows / lanes * lanes, left = rows - whole;
    for (std::size_t k = 0; k < whole; k += lanes) {
      hn::StoreU(exponential(d, hn::Add(hn::LoadU(d, table + k), all)), d, table + k);
    }
    if (left > 0) {
      const V last = exponential(d, hn::Add(load_first(d, table + whole, left, kLowest), all));
      hn::BlendedStore(last, hn::FirstN(d, left), d, table + whole);
    }
    return;
  }
  const std::size_t whole = width / lanes * lanes, left = width - whole;
  for (std::size_t r = 0; r < rows; ++r, table += width) {
    for (std::size_t k = 0; k < whole; k += lanes) {
      const V x = hn::Add(hn::LoadU(d, table + k), hn::LoadU(d, shift + k));
      hn::StoreU(exponential(d, x), d, table + k);
    }
    if (left > 0) {
      const V x =
          hn::Add(load_first(d, table + whole, left, kLowest), load_first(d, shift + whole, left, 0.0));
      hn::BlendedStore(exponential(d, x), hn::FirstN(d, left), d, table + whole);
    }
  }
}

void log_plus_f64(double* x, std::size_t n, double shift) {
  const Doubles d;
  const std::size_t lanes = hn::Lanes(d), whole = n / lanes * lanes, left = n - whole;
  const V add = hn::Set(d, shift), excluded = hn::Set(d, -std::numeric_limits<double>::infinity());
  // Highway's Log(0) is a number.
  const auto log = [&](V of) HWY_ATTR {
    return hn::IfThenElse(hn::Gt(of, hn::Zero(d)), hn::Add(hn::Log(d, of), add), excluded);
  };
  for (std::size_t k = 0; k < whole; k += lanes) hn::StoreU(log(hn::LoadU(d, x + k)), d, x + k);
  if (left > 0) hn::BlendedStore(log(load_first(d, x + whole, left, 1.0)), hn::FirstN(d, left), d, x + whole);
}

}  // namespace HWY_NAMESPACE
}  // namespace espalier::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace espalier::kernels {

HWY_EXPORT(log_sum_rows_f64);
HWY_EXPORT(exp_rows_f64);
HWY_EXPORT(log_plus_f64);

void log_sum_rows(const double* table, std::size_t rows, std::size_t width, double* out) {
  HWY_DYNAMIC_DISPATCH(log_sum_rows_f64)(table, rows, width, out);
}
void exp_rows(double* table, std::size_t rows, std::size_t width, const double* shift) {
  HWY_DYNAMIC_DISPATCH(exp_rows_f64)(table, rows, width, shift);
}
void log_plus(double* x, std::size_t n, double shift) { HWY_DYNAMIC_DISPATCH(log_plus_f64)(x, n, shift); }

}  // namespace espalier::kernels
#endif  // HWY_ONCE
