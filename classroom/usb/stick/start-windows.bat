@echo off
rem Windows: a double click. Finds a Python that runs start.py, which does everything else.
setlocal
for %%P in ("py -3" "python" "python3") do (
  %%~P -c "import sys; sys.exit(sys.version_info < (3, 6))" >nul 2>nul
  if not errorlevel 1 (
    %%~P "%~dp0start.py" %*
    goto end
  )
)
echo No Python was found. Install Python 3.11 or newer, 64-bit (the README.txt on the stick says which), then start again.
cmd /c exit 1
:end
if errorlevel 1 pause
