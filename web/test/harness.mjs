// Where things are, and the tool.
//
// BLOOMERY_ROOT is the tree, BLOOMERY_PAGE the folder with the page and its module, as cmake makes
// it, BLOOMERY the tool, BLOOMERY_BUILD the build folder with the other front ends.

import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

export const root = process.env.BLOOMERY_ROOT ?? path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");
export const golden = path.join(root, "tests/golden");
export const pageFolder = process.env.BLOOMERY_PAGE ?? path.join(root, "build/web/page");
export const buildFolder = process.env.BLOOMERY_BUILD ?? path.join(root, "build/release");
export const tool = process.env.BLOOMERY ?? path.join(buildFolder, "bloomery");

export const scratch = mkdtempSync(path.join(tmpdir(), "bloomery-page-"));
process.on("exit", () => rmSync(scratch, { recursive: true, force: true }));
export const inScratch = (name) => path.join(scratch, name);
export const run = (...args) => execFileSync(tool, args, { encoding: "utf8", cwd: scratch });
