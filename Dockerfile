# Builds with no more than this folder: docker build -t berth:0.1.0 .
ARG PYTHON_VERSION=3.13

# Not the slim one: it has the C compiler for scheduler/kernels.
FROM python:${PYTHON_VERSION} AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 \
    PIP_NO_CACHE_DIR=1 \
    PIP_ROOT_USER_ACTION=ignore
WORKDIR /src

# The build backend goes into the build stage only, the dependencies into the environment that is copied. Both change
# seldom and come first, so that a change of the code alone reuses these layers.
COPY requirements-build.lock requirements.lock ./
RUN pip install --require-hashes --only-binary :all: -r requirements-build.lock
RUN python -m venv --without-pip /opt/berth \
 && pip --python /opt/berth/bin/python install --require-hashes --only-binary :all: -r requirements.lock

COPY pyproject.toml hatch_build.py README.md LICENSE ./
COPY scheduler ./scheduler
# The root file system is read-only at run time: compiled files are made now, and are valid whatever the files' times.
RUN pip wheel --no-deps --no-build-isolation --no-index --wheel-dir /dist . \
 && pip --python /opt/berth/bin/python install --no-deps --no-index /dist/*.whl \
 && /opt/berth/bin/python -c "from scheduler.kernels import _compiled" \
 && python -m compileall -q -j 0 --invalidation-mode unchecked-hash /opt/berth/lib

FROM python:${PYTHON_VERSION}-slim
LABEL org.opencontainers.image.title="berth" \
      org.opencontainers.image.description="A Kubernetes scheduler: kube-scheduler's decisions, every node scored, every decision explained" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="0.1.0"
COPY --from=build /opt/berth /opt/berth
# One thread schedules: thread pools of the linear algebra library would only cost memory.
# The user has no entry in passwd, so HOME says where "~" is.
ENV PATH=/opt/berth/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    OPENBLAS_NUM_THREADS=1 \
    HOME=/tmp
WORKDIR /tmp
USER 65532:65532
EXPOSE 10259
ENTRYPOINT ["/opt/berth/bin/berth"]
CMD ["--help"]
