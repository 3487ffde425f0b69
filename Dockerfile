# The wizard on port 8501, everything it keeps under /data.
#
#   docker build --tag dpsynth-studio .
#   docker run --rm --interactive --tty --publish 127.0.0.1:8501:8501 --volume dpsynth:/data dpsynth-studio
#
# It prints the address that opens it, with the token of the one person who runs it; without a terminal it says where the token is. For
# several people, mount secrets.toml with an [auth] section at /app/.streamlit/secrets.toml: docs/office.md.
#
# The tag's image as many published Dockerfiles name it; a newer base is a newer tag and its digest.
FROM python:3.11.14-slim-bookworm@sha256:65a93d69fa75478d554f4ad27c85c1e69fa184956261b4301ebaf6dbb0a3543d

ARG VERSION=unreleased
ARG REVISION=unknown
LABEL org.opencontainers.image.title="DPSynth Studio" \
      org.opencontainers.image.description="Synthetic tables under differential privacy" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$REVISION"

# The address that browsers use. On this machine it is for one person with a token; with any other, it starts only with sign-in set up.
ENV PYTHONUNBUFFERED=1 \
    DPSYNTH_HOME=/data \
    DPSYNTH_URL=http://localhost:8501

WORKDIR /app

# Packages first: they change rarely, so that layer is kept when only our code changes.
COPY requirements.txt ./
RUN pip install --no-cache-dir --disable-pip-version-check --root-user-action=ignore \
        --require-hashes --only-binary :all: --requirement requirements.txt

# A fixed uid without a login shell; it owns the data directory and nothing of the program.
RUN useradd --system --uid 10001 --user-group --home-dir /data --no-create-home --shell /usr/sbin/nologin studio \
    && install --directory --owner=studio --group=studio --mode=0700 /data

COPY . ./

# Every start, and every process that it starts, would compile the program anew: its user cannot write here.
RUN python -m compileall -q --invalidation-mode unchecked-hash .

USER studio
VOLUME ["/data"]
EXPOSE 8501

# The queue of runs is looked at, too; the slim image has Python and no curl.
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s --retries=3 \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8501/health', timeout=4)"]

STOPSIGNAL SIGTERM

# 0.0.0.0 is inside the container only: what the outside reaches is decided by --publish.
CMD ["python", "-m", "streamlit", "run", "app.py", \
     "--server.address=0.0.0.0", "--server.port=8501", "--server.headless=true", "--server.showEmailPrompt=false"]
