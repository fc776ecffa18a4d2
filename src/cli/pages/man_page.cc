#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>

#include "cli/commands.h"
#include "cli/pages/pages.h"

namespace espalier::cli {
namespace {

// Text as roff has to be told it: a hyphen that is to be typed is not the one between words, and quotes stay
// straight. Those of text that is typed as it stands (`typed`) are all of the first kind.
std::string roff(std::string_view text, bool typed) {
  std::string result;
  bool option = false;  // inside of "--hash-bits"
  for (std::size_t k = 0; k < text.size(); ++k) {
    const char c = text[k], before = k == 0 ? ' ' : text[k - 1];
    const bool in_word = std::isalnum(static_cast<unsigned char>(before)) != 0;
    if (c == '-' && !in_word) option = true;
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '-') option = false;
    switch (c) {
      case '-':
        result += option || typed ? "\\-" : "-";
        break;
      case '\\':
        result += "\\e";
        break;
      case '\'':
        result += "\\(aq";
        break;
      case '^':
        result += "\\(ha";
        break;
      case '~':
        result += "\\(ti";
        break;
      case '\t':
        result += "\\~";
        break;
      default:
        result += c;
    }
  }
  return result;
}
std::string in_text(std::string_view text) { return roff(text, false); }
std::string typed(std::string_view text) { return roff(text, true); }

// In lines that an editor shows whole. At the start of one a full stop would begin a request.
std::string filled(std::string_view text) {
  constexpr std::size_t kWidth = 78;
  std::string result;
  std::size_t column = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    std::string word(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (column > 0 && column + 1 + word.size() > kWidth) {
      result += '\n';
      column = 0;
    } else if (column > 0) {
      result += ' ';
      ++column;
    }
    if (column == 0 && word.starts_with('.')) word.insert(0, "\\&");
    result += word;
    column += word.size();
  }
  return result + '\n';
}

std::string upper(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return result;
}

// As a sentence: "Label new data with a model."
std::string sentence(std::string_view text) {
  std::string result(text);
  if (!result.empty()) result.front() = upper(result.substr(0, 1)).front();
  return result.ends_with('.') ? result : result + '.';
}

// "\fB\-o\fR, \fB\-\-output\fR \fIFILE\fR"
std::string usage(const OptionDescription& option) {
  std::string text;
  for (const std::string& name : option.names)
    text += fmt::format("{}\\f{}{}\\fR", text.empty() ? "" : ", ", option.by_place ? 'I' : 'B', typed(name));
  return option.takes_value() ? fmt::format("{} \\fI{}\\fR", text, typed(option.value)) : text;
}

std::string definition(const std::string& term, std::string_view text) {
  return fmt::format(".TP\n{}\n{}", term, filled(in_text(text)));
}

std::string link(const CommandDescription& command) {
  return fmt::format("\\%\\fB{}\\fR(1)", typed(command.name("-")));
}

std::string options_section(const CommandDescription& command) {
  std::string text;
  for (const OptionDescription& option : command.options) {
    if (option.by_place) text += definition(usage(option), option.text);
  }
  if (!text.empty()) text = ".SH ARGUMENTS\n" + text;
  std::string all;
  for (const std::string& group : command.groups) {
    std::string rows;
    for (const OptionDescription& option : command.options) {
      if (option.group == group && !option.by_place && !option.asks_for_help)
        rows += definition(usage(option), option.text);
    }
    if (!rows.empty()) all += (group == "Options" ? "" : fmt::format(".SS {}\n", in_text(group))) + rows;
  }
  return all.empty() ? text : text + ".SH OPTIONS\n" + all;
}

std::string commands_section(const CommandDescription& command) {
  if (command.commands.empty()) return "";
  std::string text = command.path.size() == 1 ? ".SH COMMANDS\n" : ".SH TASKS\n";
  for (const CommandDescription& one : command.commands)
    text += definition(fmt::format("\\fB{}\\fR", typed(one.path.back())),
                       one.summary + " (see\t" + one.name("-") + "(1))");
  return text;
}

// What help says below the options: titles with indented lines (commands as they are typed, or rows "name
// text" in columns), and plain paragraphs, which become the notes.
std::string footer_sections(const CommandDescription& command) {
  std::string notes, sections;
  bool verbatim = false, paragraph = false;
  const auto end_verbatim = [&] {
    if (verbatim) sections += ".EE\n.RE\n";
    verbatim = false;
  };
  const std::string all = fmt::format("{}\n{}", command.footer, command.advanced_footer);
  std::string_view rest = all;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const bool indented = line.starts_with("  ");
    if (!indented) end_verbatim();
    if (line.empty()) {
      paragraph = false;
    } else if (!indented && line.ends_with(':')) {
      sections += fmt::format(".SH {}\n", in_text(upper(line.substr(0, line.size() - 1))));
      paragraph = false;
    } else if (!indented) {
      if (!paragraph && !notes.empty()) notes += ".PP\n";
      notes += filled(in_text(line));
      paragraph = true;
    } else {
      line.remove_prefix(2);
      const std::size_t name = line.find(' '), text = line.find_first_not_of(' ', name);
      if (!verbatim && name != std::string_view::npos && text > name + 1) {
        sections += definition(fmt::format("\\fB{}\\fR", typed(line.substr(0, name))), line.substr(text));
        continue;
      }
      if (!verbatim) sections += ".RS 2\n.EX\n";
      verbatim = true;
      sections += typed(line) + '\n';
    }
  }
  end_verbatim();
  return notes.empty() ? sections : ".SH NOTES\n" + notes + sections;
}

std::string status_section() {
  return ".SH EXIT STATUS\n" + definition(fmt::format("\\fB{}\\fR", kSuccess), "Success.") +
         definition(fmt::format("\\fB{}\\fR", kUserError),
                    "The command line or a file is wrong; a line on standard error says what was expected.") +
         definition(
             fmt::format("\\fB{}\\fR", kMissedGap),
             "With --require-gap: the model misses the gap that was asked for. Of verify: no gap nearly as "
             "small as the claimed one was proven.") +
         definition(fmt::format("\\fB{}\\fR", kRefuted),
                    "Of verify: the model's weights, data or bound are not what its file says.") +
         definition(fmt::format("\\fB{}\\fR", kInterrupted), "Interrupted by Ctrl-C.");
}

}  // namespace

std::string man_page(const CommandDescription& command, const CommandDescription* parent,
                     const std::string& version, const std::string& date) {
  const std::string name = command.name("-");
  const bool of_task = command.path.size() > 2;
  std::string text =
      fmt::format(".TH {} 1 {} \"espalier {}\" \"Espalier\"\n", upper(typed(name)), date, version);
  text += ".ad l\n";  // some names are too long for lines of one width
  std::string summary = of_task ? fmt::format("{}; {}", parent->summary, command.summary) : command.summary;
  if (summary.ends_with('.')) summary.pop_back();
  if (parent == nullptr)
    summary.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(summary.front())));
  text += ".SH NAME\n" + filled(fmt::format("{} \\- {}", typed(name), in_text(summary)));
  text += ".SH SYNOPSIS\n" +
          filled(fmt::format("\\fB{}\\fR {}", typed(command.name(" ")), in_text(command.arguments())));
  text += ".SH DESCRIPTION\n" + filled(in_text(sentence(of_task ? parent->summary : command.summary)));
  if (of_task) {
    text += ".PP\n" + filled(fmt::format("The task \\fB{}\\fR: {}.", typed(command.path.back()),
                                         in_text(command.summary)));
  }
  text += commands_section(command) + options_section(command) + footer_sections(command) + status_section();
  text += ".SH SEE ALSO\n";
  std::string others;
  const auto add = [&](const CommandDescription& other) {
    others += (others.empty() ? "" : ",\n") + link(other);
  };
  if (parent != nullptr) add(*parent);
  const CommandDescription& listed = command.commands.empty() && parent != nullptr ? *parent : command;
  for (const CommandDescription& other : listed.commands) {
    if (other.path != command.path) add(other);
  }
  return text + others + '\n';
}

}  // namespace espalier::cli
