#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "cli/pages/pages.h"

namespace espalier::cli {
namespace {

// Patterns of `case`: "'train tag' | 'path tag'"
std::string patterns(const std::vector<std::string>& words) {
  return fmt::format("'{}'", fmt::join(words, "' | '"));
}

// What may be typed for an option, as the variables that the script offers it from.
std::string assignments(const OptionDescription& option) {
  std::string text = "value=needed";
  if (option.may_lack_value) text = "value=allowed";
  if (option.names_file()) text += " files=yes";
  if (!option.words.empty()) text += fmt::format(" words='{}'", fmt::join(option.words, " "));
  if (option.list) text += " list=yes";
  return text;
}

// An option is mostly the same wherever there is one of its name: then one row says so for all commands.
std::string value_rows(const std::vector<const CommandDescription*>& commands) {
  std::vector<std::string> names;
  std::map<std::string, std::vector<std::pair<std::string, std::vector<std::string>>>> kinds;
  for (const CommandDescription* command : commands) {
    for (const OptionDescription& option : command->options) {
      if (!option.takes_value()) continue;
      for (const std::string& name : option.names) {
        if (!kinds.contains(name)) names.push_back(name);
        auto& of_name = kinds[name];
        const std::string assigned = assignments(option);
        auto kind =
            std::ranges::find(of_name, assigned, &std::pair<std::string, std::vector<std::string>>::first);
        if (kind == of_name.end()) kind = of_name.insert(of_name.end(), {assigned, {}});
        kind->second.push_back(fmt::format("{} {}", words_of(*command), name));
      }
    }
  }
  std::map<std::string, std::vector<std::string>> alike;  // options of all commands, by what they take
  std::string rows;
  for (const std::string& name : names) {
    if (kinds[name].size() == 1) {
      alike[kinds[name].front().first].push_back(fmt::format("*' {}'", name));
      continue;
    }
    for (const auto& [assigned, of_commands] : kinds[name])
      rows += fmt::format("        {}) {} ;;\n", patterns(of_commands), assigned);
  }
  for (const auto& [assigned, all] : alike)
    rows += fmt::format("        {}) {} ;;\n", fmt::join(all, " | "), assigned);
  return rows;
}

std::string place_rows(const std::vector<const CommandDescription*>& commands) {
  std::string rows;
  std::vector<std::string> files;
  for (const CommandDescription* command : commands) {
    int place = 0;
    for (const OptionDescription& option : command->options) {
      if (!option.by_place) continue;
      // Any place, where there may be several of it.
      const std::string at = option.repeatable ? fmt::format("'{} '*", words_of(*command))
                                               : fmt::format("'{} {}'", words_of(*command), ++place);
      if (option.names_file()) {
        files.push_back(at);
      } else {
        rows += fmt::format("                {}) words='{}' ;;\n", at, fmt::join(option.words, " "));
      }
    }
  }
  return rows + fmt::format("                {}) files=yes ;;\n", fmt::join(files, " | "));
}

std::string command_rows(const CommandDescription& program,
                         const std::vector<const CommandDescription*>& commands) {
  std::string rows;
  const auto add = [&](const CommandDescription& command, const std::string& more) {
    std::vector<std::string> names, options;
    for (const CommandDescription& one : command.commands) names.push_back(one.path.back());
    for (const OptionDescription& option : command.options) {
      if (!option.by_place) options.insert(options.end(), option.names.begin(), option.names.end());
    }
    rows += fmt::format("        '{}')\n", words_of(command));
    if (!names.empty()) rows += fmt::format("            commands='{}{}'\n", fmt::join(names, " "), more);
    rows += fmt::format("            options='{}' ;;\n", fmt::join(options, " "));
  };
  add(program, " help");
  for (const CommandDescription* command : commands) add(*command, "");
  return rows;
}

constexpr const char* kBashScript = R"(# Completion of espalier for bash, made from the tables of its options.

# Sets value to needed or allowed if the option $2 of the command $1 takes a value, and what to offer for it.
_espalier_value() {{
    value='' words='' list='' files=''
    case "$1 $2" in
{values}    esac
}}

_espalier() {{
    local current=${{COMP_WORDS[COMP_CWORD]}} command='' commands='' options=''
    local value='' words='' list='' files='' at=1 place=1
    COMPREPLY=()

    # Commands come first; after help, too.
    [[ $COMP_CWORD -gt 1 && ${{COMP_WORDS[1]}} == help ]] && at=2
    while ((at < COMP_CWORD)); do
        case "${{command:+$command }}${{COMP_WORDS[at]}}" in
            {names}) command="${{command:+$command }}${{COMP_WORDS[at]}}" ;;
            *) break ;;
        esac
        ((at++))
    done
    case $command in
{commands}    esac
    if [[ $COMP_CWORD -gt 1 && ${{COMP_WORDS[1]}} == help ]]; then
        commands=${{commands%help}}
        ((at == COMP_CWORD)) && mapfile -t COMPREPLY < <(compgen -W "$commands" -- "$current")
        return
    fi

    # What is typed for: an option, whose value may follow a sign of equality, or a place.
    local before=${{COMP_WORDS[COMP_CWORD - 1]}}
    if [[ $current == = ]]; then
        current=''
    elif [[ $before == = ]]; then
        before=${{COMP_WORDS[COMP_CWORD - 2]}}
    fi
    _espalier_value "$command" "$before"
    if [[ ! $value || ($value == allowed && $current == -*) ]]; then
        if [[ $current == -* ]]; then
            words=$options
        elif [[ $commands ]]; then
            ((at == COMP_CWORD)) && words=$commands
        else
            for (( ; at < COMP_CWORD; at++)); do
                if [[ ${{COMP_WORDS[at]}} != -?* ]]; then
                    ((place++))
                    continue
                fi
                _espalier_value "$command" "${{COMP_WORDS[at]}}"
                [[ ${{COMP_WORDS[at + 1]}} == = ]] && ((at++))
                [[ $value && ${{COMP_WORDS[at + 1]}} != -?* ]] && ((at++))
            done
            words='' list='' files=''
            case "$command $place" in
{places}            esac
        fi
    fi

    local finished=''
    if [[ $list && $current == *,* ]]; then
        finished=${{current%,*}},
        current=${{current##*,}}
    fi
    if [[ $files ]]; then
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -f -- "$current")
    else
        mapfile -t COMPREPLY < <(compgen -P "$finished" -W "$words" -- "$current")
    fi
}}

complete -F _espalier espalier
)";

}  // namespace

std::string bash_completion(const CommandDescription& program) {
  const std::vector<const CommandDescription*> commands = all_commands(program);
  std::vector<std::string> names;
  names.reserve(commands.size());
  for (const CommandDescription* command : commands) names.push_back(words_of(*command));
  return fmt::format(
      kBashScript, fmt::arg("values", value_rows(commands)), fmt::arg("names", patterns(names)),
      fmt::arg("commands", command_rows(program, commands)), fmt::arg("places", place_rows(commands)));
}

}  // namespace espalier::cli
