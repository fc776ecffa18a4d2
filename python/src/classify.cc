#include "espalier/tasks/classify.h"

#include <fmt/format.h>
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <memory>

#include "bind.h"
#include "espalier/base/error.h"
#include "espalier/model/model.h"
#include "items.h"
#include "settings.h"
#include "training.h"

namespace espalier::python {
namespace {

// Rows of SciPy's CSR matrices, where they are.
template <class Value, class Index>
class CsrRows final : public NumberedRows {
 public:
  CsrRows(std::span<const std::int64_t> begins, const Index* columns, const Value* values,
          std::size_t num_columns)
      : begins_(begins), columns_(columns), values_(values), num_columns_(num_columns) {}

  std::size_t size() const override { return begins_.size() - 1; }
  std::size_t num_columns() const override { return num_columns_; }
  void get(std::size_t i, std::vector<std::uint32_t>& columns, std::vector<float>& values) const override {
    columns.clear();
    values.clear();
    for (std::int64_t k = begins_[i]; k < begins_[i + 1]; ++k) {
      // A column that cannot be is refused by whoever reads it.
      const bool fits = columns_[k] >= 0 && static_cast<std::uint64_t>(columns_[k]) < num_columns_;
      columns.push_back(fits ? static_cast<std::uint32_t>(columns_[k]) : ~std::uint32_t{0});
      values.push_back(static_cast<float>(values_[k]));
    }
  }

 private:
  std::span<const std::int64_t> begins_;
  const Index* columns_;
  const Value* values_;
  std::size_t num_columns_;
};

// Rows of NumPy's arrays of two dimensions, in any order of memory.
template <class Value>
class DenseRows final : public NumberedRows {
 public:
  explicit DenseRows(const py::array& rows)
      : begin_(static_cast<const char*>(rows.data())),
        size_(static_cast<std::size_t>(rows.shape(0))),
        num_columns_(static_cast<std::size_t>(rows.shape(1))),
        row_(rows.strides(0)),
        column_(rows.strides(1)) {}

  std::size_t size() const override { return size_; }
  std::size_t num_columns() const override { return num_columns_; }
  void get(std::size_t i, std::vector<std::uint32_t>& columns, std::vector<float>& values) const override {
    columns.clear();
    values.clear();
    const char* at = begin_ + row_ * static_cast<std::ptrdiff_t>(i);
    for (std::size_t c = 0; c < num_columns_; ++c, at += column_) {
      Value value;
      std::memcpy(&value, at, sizeof value);
      if (value == 0) continue;
      columns.push_back(static_cast<std::uint32_t>(c));
      values.push_back(static_cast<float>(value));
    }
  }

 private:
  const char* begin_;
  std::size_t size_, num_columns_;
  std::ptrdiff_t row_, column_;
};

// A matrix of Python with what says how to read it; the memory stays Python's.
class Matrix {
 public:
  Matrix(const py::object& X, std::vector<std::string> columns) : columns_(std::move(columns)) {
    if (is_csr(X)) {
      take_csr(X);
    } else {
      take_dense(X);
    }
    if (rows_->num_columns() >= 0xffff'fff0u)
      throw Error::in("X", fmt::format("{} columns", rows_->num_columns()), "expected fewer than 2^32");
  }

  const NumberedRows& rows() const { return *rows_; }
  std::span<const std::string> columns() const { return columns_; }

 private:
  template <class Value>
  static bool is(const py::array& array) {
    return array.dtype().is(py::dtype::of<Value>()) || array.dtype().equal(py::dtype::of<Value>());
  }

  void take_csr(const py::object& X) {
    begins_ = py::array_t<std::int64_t, py::array::c_style | py::array::forcecast>(X.attr("indptr"));
    py::array indices = X.attr("indices"), values = X.attr("data");
    if (!is<std::int32_t>(indices) && !is<std::int64_t>(indices))
      indices = py::array_t<std::int64_t, py::array::c_style | py::array::forcecast>(indices);
    if (!is<float>(values) && !is<double>(values))
      values = py::array_t<double, py::array::c_style | py::array::forcecast>(values);
    indices = py::array::ensure(indices, py::array::c_style);
    values = py::array::ensure(values, py::array::c_style);
    const auto num_columns = X.attr("shape").cast<py::tuple>()[1].cast<std::size_t>();
    const std::span begins(begins_.data(), static_cast<std::size_t>(begins_.size()));
    const auto entries = static_cast<std::int64_t>(std::min(indices.size(), values.size()));
    bool fits = !begins.empty() && begins[0] >= 0 && begins.back() <= entries;
    for (std::size_t i = 1; fits && i < begins.size(); ++i) fits = begins[i - 1] <= begins[i];
    if (!fits)
      throw Error::in("X", "a CSR matrix whose parts do not fit", "expected X.check_format() to pass");
    const auto make = [&]<class Index>(const Index*) {
      const auto* columns = static_cast<const Index*>(indices.data());
      if (is<float>(values)) {
        rows_ = std::make_unique<CsrRows<float, Index>>(
            begins, columns, static_cast<const float*>(values.data()), num_columns);
      } else {
        rows_ = std::make_unique<CsrRows<double, Index>>(
            begins, columns, static_cast<const double*>(values.data()), num_columns);
      }
    };
    if (is<std::int32_t>(indices)) {
      make(static_cast<const std::int32_t*>(nullptr));
    } else {
      make(static_cast<const std::int64_t*>(nullptr));
    }
    indices_ = std::move(indices);
    values_ = std::move(values);
  }

  void take_dense(const py::object& X) {
    py::array values = py::array::ensure(X);
    if (!values || values.ndim() != 2) {
      PyErr_Clear();
      throw Error::in("X", "no matrix", "expected an array of two dimensions, a row for each example");
    }
    if (!is<float>(values) && !is<double>(values))
      values = py::array_t<double, py::array::c_style | py::array::forcecast>(values);
    if (is<float>(values)) {
      rows_ = std::make_unique<DenseRows<float>>(values);
    } else {
      rows_ = std::make_unique<DenseRows<double>>(values);
    }
    values_ = std::move(values);
  }

  std::vector<std::string> columns_;
  py::array_t<std::int64_t, py::array::c_style | py::array::forcecast> begins_;
  py::array indices_, values_;
  std::unique_ptr<NumberedRows> rows_;
};

using Numbers = py::array_t<std::uint32_t, py::array::c_style | py::array::forcecast>;
using Weights1 = py::array_t<double, py::array::c_style | py::array::forcecast>;

// What each example is labelled with: a class, by its number, and how much it counts.
struct Classes {
  Numbers labels;
  std::vector<std::string> names;
  Weights1 weights;  // none: 1

  std::span<const std::uint32_t> numbers() const {
    return {labels.data(), static_cast<std::size_t>(labels.size())};
  }
  std::span<const double> all_weights() const {
    return {weights.data(), static_cast<std::size_t>(weights.size())};
  }
};

ClassifyMatrix data_of(const Matrix& matrix, const Classes& classes) {
  return {matrix.rows(), matrix.columns(), classes.numbers(), classes.names, classes.all_weights()};
}

ClassifyOptions options_of(py::dict options) {
  OptionValues values(task_named("classify").options());
  options = options.attr("copy")();
  take_options(options, values);
  refuse_rest(options);
  values.check_effective();
  return values.as<ClassifyOptions>();
}

std::unique_ptr<TrainingData> train_on_rows(const Matrix& X, const Classes& y, const Matrix* X_dev,
                                            const Classes* y_dev, const py::dict& given) {
  const ClassifyOptions options = options_of(given);
  const py::gil_scoped_release release;
  auto data = std::make_unique<TrainingData>();
  const ClassifyMatrix train = data_of(X, y);
  if (X_dev != nullptr && y_dev != nullptr) {
    const ClassifyMatrix dev = data_of(*X_dev, *y_dev);
    data->set = make_classify_training(train, options, &dev);
  } else {
    data->set = make_classify_training(train, options);
  }
  return data;
}

// Calls with every example of a list: texts, or items as those of sentences.
template <class Call>
void for_each_text(const py::sequence& X, const char* name, const Call& call) {
  const std::size_t size = py::len(X);
  for (std::size_t i = 0; i < size; ++i) {
    if (i % 1024 == 0 && PyErr_CheckSignals() != 0) throw py::error_already_set();
    const py::object text = X[i];
    call(i,
         text_of(text, {name, static_cast<std::ptrdiff_t>(i)}, "expected a text, as the first example is"));
  }
}

class Examples {
 public:
  Examples(const py::sequence& X, const Classes& y, bool texts, const char* name) {
    const auto labels = y.numbers();
    const auto weights = y.all_weights();
    const auto weight = [&](std::size_t i) { return weights.empty() ? 1.0 : weights[i]; };
    if (texts) {
      for_each_text(X, name, [&](std::size_t i, std::string_view text) {
        data_.add_text(text, y.names[labels[i]], weight(i));
      });
    } else {
      Sentences rows;
      rows.add(X, {name});
      for (std::size_t i = 0; i < rows.num_tokens(); ++i)
        data_.add(rows.token(i), y.names[labels[i]], weight(i));
    }
  }
  const ClassifyData& data() const { return data_; }

 private:
  ClassifyData data_;
};

std::unique_ptr<TrainingData> train_on_examples(const Examples& train, const Examples* dev,
                                                const py::dict& given) {
  const ClassifyOptions options = options_of(given);
  const py::gil_scoped_release release;
  auto data = std::make_unique<TrainingData>();
  data->set = make_classify_training(train.data(), options, dev ? &dev->data() : nullptr);
  return data;
}

// A classifier that all threads of Python share.
class SharedClassifier {
 public:
  explicit SharedClassifier(Model model) : model_(std::move(model)), classifier_(model_.classifier()) {}

  py::list labels() const {
    py::list list;
    for (std::uint32_t y = 0; y < classifier_.num_labels(); ++y)
      list.append(py::str(std::string(classifier_.label(y))));
    return list;
  }
  bool has_probabilities() const { return classifier_.has_probabilities(); }

  py::array_t<double> score_rows(const Matrix& X, bool probabilities) const {
    py::array_t<double> result = table(X.rows().size());
    const std::span to(result.mutable_data(), static_cast<std::size_t>(result.size()));
    const py::gil_scoped_release release;
    classifier_.score_rows(X.rows(), X.columns(), to);
    if (probabilities) classifier_.rows_to_probabilities(to);
    return result;
  }

  py::array_t<double> score_items(const py::sequence& X, bool probabilities) const {
    Sentences rows;
    rows.add(X, {"X"});
    py::array_t<double> result = table(rows.num_tokens());
    double* to = result.mutable_data();
    const py::gil_scoped_release release;
    for (std::size_t i = 0; i < rows.num_tokens(); ++i) {
      const auto row =
          probabilities ? classifier_.probabilities(rows.token(i)) : classifier_.scores(rows.token(i));
      to = std::copy(row.begin(), row.end(), to);
    }
    return result;
  }

  py::array_t<double> score_texts(const py::sequence& X, bool probabilities) const {
    std::vector<std::string> texts;
    for_each_text(X, "X", [&](std::size_t, std::string_view text) { texts.emplace_back(text); });
    py::array_t<double> result = table(texts.size());
    double* to = result.mutable_data();
    const py::gil_scoped_release release;
    for (const std::string& text : texts) {
      const auto row = probabilities ? classifier_.text_probabilities(text) : classifier_.text_scores(text);
      to = std::copy(row.begin(), row.end(), to);
    }
    return result;
  }

  // A row for each label, a column for each attribute of these names: 0 where the model has no weight.
  py::array_t<double> weights(const std::vector<std::string>& attributes) const {
    const Predictor& predictor = model_.predictor();
    const std::size_t labels = classifier_.num_labels();
    py::array_t<double> result({labels, attributes.size()});
    double* const to = result.mutable_data();
    const py::gil_scoped_release release;
    std::vector<float> all;  // the labels of an attribute follow each other
    // Coefficients of a kernel are not those of attributes.
    if (!model_.describe().at("settings").contains("kernel"))
      predictor.for_each_weight([&](const WeightName&, float weight) { all.push_back(weight); });
    for (std::size_t c = 0; c < attributes.size(); ++c) {
      const auto id = predictor.attributes().find(attributes[c]);
      for (std::size_t y = 0; y < labels; ++y)
        to[y * attributes.size() + c] = id && !all.empty() ? double{all[*id * labels + y]} : 0.0;
    }
    return result;
  }

 private:
  py::array_t<double> table(std::size_t rows) const {
    return py::array_t<double>({rows, classifier_.num_labels()});
  }

  Model model_;
  const Classifier& classifier_;
};

}  // namespace

void bind_classify(py::module_& module) {
  py::class_<Matrix>(module, "Matrix")
      .def(py::init<const py::object&, std::vector<std::string>>(), py::arg("X"),
           py::arg("columns") = std::vector<std::string>());
  py::class_<Classes>(module, "Classes")
      .def(py::init([](Numbers labels, std::vector<std::string> names, const py::object& weights) {
             Classes classes{std::move(labels), std::move(names), {}};
             if (!weights.is_none()) classes.weights = Weights1(weights);
             return classes;
           }),
           py::arg("labels"), py::arg("names"), py::arg("weights") = py::none());
  py::class_<Examples>(module, "Examples")
      .def(py::init<const py::sequence&, const Classes&, bool, const char*>(), py::arg("X"), py::arg("y"),
           py::arg("texts"), py::arg("name") = "X");
  module.def("classify_rows_training", &train_on_rows, py::arg("X"), py::arg("y"), py::arg("X_dev"),
             py::arg("y_dev"), py::arg("options"));
  module.def("classify_examples_training", &train_on_examples, py::arg("train"), py::arg("dev"),
             py::arg("options"));
  module.def(
      "loss_has_probabilities", [](const std::string& loss) { return Loss::parse(loss).smooth(); },
      py::arg("loss"));
  py::class_<SharedClassifier>(module, "Classifier")
      .def(py::init<Model>(), py::arg("model"))
      .def_property_readonly("labels", &SharedClassifier::labels)
      .def_property_readonly("has_probabilities", &SharedClassifier::has_probabilities)
      .def("score_rows", &SharedClassifier::score_rows, py::arg("X"), py::arg("probabilities"))
      .def("score_items", &SharedClassifier::score_items, py::arg("X"), py::arg("probabilities"))
      .def("score_texts", &SharedClassifier::score_texts, py::arg("X"), py::arg("probabilities"))
      .def("weights", &SharedClassifier::weights, py::arg("attributes"));
}

}  // namespace espalier::python
