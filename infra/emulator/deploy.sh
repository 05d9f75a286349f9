#!/usr/bin/env bash
# Deploys template.yaml to an emulator of AWS, and prints what the stack tells. An emulator that runs functions as
# processes or containers will do.
#
#   AWS_ENDPOINT_URL=http://127.0.0.1:4566 infra/emulator/deploy.sh [FOLDER] [NAME=VALUE ...]
#
# FOLDER holds the four programs, built for Linux and this processor; without it cargo builds them. NAME=VALUE are
# parameters of the template. STACK names the stack (dormouse). Alarms over several metrics are more than some
# emulators know, so there are none unless ALARMS=true. It needs sam and curl.
set -euo pipefail
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
stack=${STACK:-dormouse}
programs=(dormouse-api dormouse-resume dormouse-timer dormouse-invalidation)

if [ -z "${AWS_ENDPOINT_URL:-}" ]; then
  echo "say where the emulator is: AWS_ENDPOINT_URL=http://127.0.0.1:4566 $0" >&2
  exit 2
fi
if ! command -v sam >/dev/null; then
  echo "this needs the SAM CLI: pip install aws-sam-cli" >&2
  exit 2
fi
export AWS_DEFAULT_REGION=${AWS_DEFAULT_REGION:-us-east-1} SAM_CLI_TELEMETRY=0
export AWS_ACCESS_KEY_ID=${AWS_ACCESS_KEY_ID:-test} AWS_SECRET_ACCESS_KEY=${AWS_SECRET_ACCESS_KEY:-test}

folder=""
if [ $# -gt 0 ] && [[ $1 != *=* ]]; then
  folder=$(cd "$1" && pwd)
  shift
else
  (cd "$root" && cargo build --release --locked "${programs[@]/#/--package=}")
  folder="${CARGO_TARGET_DIR:-$root/target}/release"
fi
case $(uname -m) in
  aarch64 | arm64) architecture=arm64 ;;
  *) architecture=x86_64 ;;
esac

# Each function's code is a folder with one file, `bootstrap`.
staged=$(mktemp -d)
trap 'rm -rf "$staged"' EXIT
# Some emulators take a parameter that is a number for text.
sed 's/MaximumConcurrency: !Ref ConcurrencyMax/MaximumConcurrency: 100/' "$root/template.yaml" >"$staged/template.yaml"
for program in "${programs[@]}"; do
  if [ ! -x "$folder/$program" ]; then
    echo "there is no program $program in $folder" >&2
    exit 2
  fi
  mkdir "$staged/$program"
  cp "$folder/$program" "$staged/$program/bootstrap"
  sed -i "s|CodeUri: functions/${program#dormouse-}$|CodeUri: $program|" "$staged/template.yaml"
done

sam deploy --template-file "$staged/template.yaml" --stack-name "$stack" --resolve-s3 --capabilities CAPABILITY_IAM \
  --no-confirm-changeset --no-fail-on-empty-changeset --no-progressbar \
  --parameter-overrides "Authentication=none" "Architecture=$architecture" "Alarms=${ALARMS:-false}" "$@"

# Not every emulator reads the table's time to live from a template.
table=$(sam list stack-outputs --stack-name "$stack" --output json |
  sed -n '/"TableName"/,/}/ s/.*"OutputValue": "\(.*\)".*/\1/p')
curl --silent --show-error --fail --output /dev/null "$AWS_ENDPOINT_URL/" \
  --header "Authorization: AWS4-HMAC-SHA256 Credential=$AWS_ACCESS_KEY_ID/20260101/$AWS_DEFAULT_REGION/dynamodb/aws4_request, SignedHeaders=host, Signature=0" \
  --header "Content-Type: application/x-amz-json-1.0" --header "X-Amz-Target: DynamoDB_20120810.UpdateTimeToLive" \
  --data "{\"TableName\":\"$table\",\"TimeToLiveSpecification\":{\"AttributeName\":\"ttl\",\"Enabled\":true}}" ||
  echo "the table's time to live was on already, or cannot be had here"
