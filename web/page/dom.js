// Elements in one line each, and the few things that all views share.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return element;
}

export const h = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
export const s = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);
export const $ = (selector, root = document) => root.querySelector(selector);

// Says it to screen readers when somebody pauses, so that a slider does not talk all the time.
let waiting = 0;
export function announce(text, delay = 700) {
  clearTimeout(waiting);
  waiting = setTimeout(() => {
    $("#announcer").textContent = text;
  }, delay);
}

export function table(caption, head, rows, attributes = {}) {
  return h(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": caption },
    h(
      "table",
      attributes,
      h("caption", null, caption),
      h(
        "thead",
        null,
        h(
          "tr",
          null,
          head.map(([text, numeric]) => h("th", { scope: "col", class: numeric ? "number" : null }, text)),
        ),
      ),
      h("tbody", null, rows),
    ),
  );
}

export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // no permission, or no secure origin
    const area = h("textarea", { class: "hidden-visually", "aria-hidden": "true" }, text);
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}

// A block of code with a button that copies it.
export function codeBlock(title, code, note) {
  const button = h("button", { type: "button", class: "small", "aria-label": `Copy: ${title}` }, "Copy");
  button.addEventListener("click", async () => {
    await copyText(code);
    button.textContent = "Copied";
    announce(`${title} copied`, 0);
    setTimeout(() => {
      button.textContent = "Copy";
    }, 1500);
  });
  return h(
    "section",
    { class: "code", "aria-label": title },
    h("div", { class: "code-head" }, h("h4", null, title), button),
    h("pre", { tabindex: 0, "aria-label": `${title}, code` }, h("code", null, code)),
    note ? h("p", { class: "note" }, note) : null,
  );
}

// An empty text means: no error.
export function fieldError(input, text) {
  const note = $(`#${input.id}-error`);
  note.textContent = text;
  if (text) input.setAttribute("aria-invalid", "true");
  else input.removeAttribute("aria-invalid");
}
