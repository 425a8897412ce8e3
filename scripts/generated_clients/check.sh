#!/bin/sh
# Generate a Python and a TypeScript client from the OpenAPI document and compile them, as callers of the API do.
# Needs node and npm, and the package indexes at the first run; the generators stay in var/generators.
set -eu
cd "$(dirname "$0")/../.."
here=scripts/generated_clients kept=var/generators
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
mkdir -p "$kept"
.venv/bin/python manage.py spectacular --validate --fail-on-warn --format openapi-json --file "$made/openapi.json"

echo "Python: openapi-python-client"
sh scripts/make_env.sh .venv/bin/python "$here/requirements.txt" "$kept/python"
"$kept/python/bin/openapi-python-client" generate --path "$made/openapi.json" --config "$here/openapi-python-client.yaml" \
    --meta none --fail-on-warning --output-path "$made/generated_client"
cp "$here/use_client.py" "$made"
(cd "$made" && "$OLDPWD/$kept/python/bin/mypy" --strict use_client.py)

echo "TypeScript: openapi-typescript"
cp "$here/package.json" "$here/package-lock.json" "$kept"
(cd "$kept" && npm ci --no-audit --no-fund --silent)
"$kept/node_modules/.bin/openapi-typescript" "$made/openapi.json" --output "$kept/api.ts"
cp "$here/use_client.ts" "$kept"
(cd "$kept" && node_modules/.bin/tsc --strict --exactOptionalPropertyTypes --noUncheckedIndexedAccess --noEmit \
    --target es2022 --module nodenext --moduleResolution nodenext --skipLibCheck false use_client.ts)
echo "Both clients compile."
