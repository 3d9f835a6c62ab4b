# cmake -DNPM=... -DOPTIONS=... -P npm_ci.cmake: fetches the packages of package-lock.json into the current directory, quietly.
execute_process(COMMAND ${NPM} ci --ignore-scripts --loglevel=error ${OPTIONS}
                RESULT_VARIABLE failed OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(failed)
  message(FATAL_ERROR "${output}\nnpm could not fetch the packages of the report page; -DLINKWORK_WEB=OFF builds without it")
endif()
