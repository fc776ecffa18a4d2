# Read by ctest when it starts: lists the tests of `program`, which is tests/`folder`. A suite is one test, since what its cases
# have in common is computed once per process. A case is one in docs/, whose pages take long and run at the same time, and where
# ESPALIER_TEST_CASES asks for it, to select by name.
if(NOT EXISTS "${program}")
  add_test("${folder}_not_built" "${program}")
  return()
endif()
execute_process(COMMAND "${program}" --gtest_list_tests OUTPUT_VARIABLE list RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR "${program} --gtest_list_tests: ${failed}")
endif()

# What takes longest begins first, so that no processor waits for it at the end: the tests of more than five seconds, the
# longest first.
set(longest faults.Commands/CommandFaultsTest cli.CliRanksTest train.Tasks/InitTest docs.*/tagging docs.*/solvers docs.*/parsing tasks.TagOptima cli.CliParseTest
  cli.CliGraphTest learning.CfgProblem docs.*/tutorial solvers.Automatic cli.CliPredictTest
  cli.CliPartialTest)

# name: what ctest calls it; filter: what googletest does.
function(list_test name filter)
  add_test("${name}" "${program}" "--gtest_filter=${filter}")
  set_tests_properties("${name}" PROPERTIES TIMEOUT 600)
  set(cost 100)
  foreach(pattern ${longest})
    if("${name}" MATCHES "^${pattern}")
      set_tests_properties("${name}" PROPERTIES COST ${cost})
    endif()
    math(EXPR cost "${cost} - 1")
  endforeach()
endfunction()

set(by_case OFF)
if(folder STREQUAL "docs" OR DEFINED ENV{ESPALIER_TEST_CASES})
  set(by_case ON)
endif()
string(REPLACE "\n" ";" lines "${list}")
set(suite)
foreach(line ${lines})
  string(REGEX REPLACE " *#.*" "" line "${line}")  # the values of parameters
  if(line MATCHES "^([^ ]+)\\.$")
    set(suite ${CMAKE_MATCH_1})
    if(NOT by_case)
      list_test("${folder}.${suite}" "${suite}.*")
    endif()
  elseif(line MATCHES "^  ([^ ]+)$" AND by_case)
    list_test("${folder}.${suite}.${CMAKE_MATCH_1}" "${suite}.${CMAKE_MATCH_1}")
  endif()
endforeach()
