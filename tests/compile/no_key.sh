#!/bin/bash
# no_key.sh COMPILER [FLAG...]: what the compiler says about a type that has no hash.
set -u
compiler=$1
shift
folder=$(dirname "$0")
for source in no_key no_key_batch; do
  if text=$("$compiler" -std=c++20 -fsyntax-only "$@" "$folder/$source.cpp" 2>&1); then
    echo "$source.cpp compiles, though its type has no hash"
    exit 1
  fi
  if [[ $text != *"Write a function bloomery_hash"* ]]; then
    echo "the message for $source.cpp does not name bloomery_hash:"
    echo "$text"
    exit 1
  fi
  if errors=$(grep -c "error:" <<< "$text"); [[ $errors != 1 ]]; then
    echo "$source.cpp gives $errors errors instead of one:"
    echo "$text"
    exit 1
  fi
done
