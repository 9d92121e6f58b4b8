"""Say that this folder is the package, with every folder in it that has an `__init__.py`."""

from tempfile import TemporaryDirectory

from setuptools import find_packages, setup

NAME = "autograd_graphs"

if __name__ == "__main__":
    rooms = [f"{NAME}.{room}" for room in find_packages()]
    with TemporaryDirectory() as build:  # it leaves nothing in the folder
        setup(
            script_name="setup.py",  # which is no module of the package
            packages=[NAME, *rooms],
            package_dir={NAME: "."},
            options={"build": {"build_base": build}, "egg_info": {"egg_base": build}},
        )
