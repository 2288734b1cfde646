// Elements, made without markup: whatever a name or a log says stays text.

const SVG = "http://www.w3.org/2000/svg";

function filled(element, properties, children) {
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (name === "on") for (const [event, act] of Object.entries(value)) element.addEventListener(event, act);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.flat(Infinity).filter((one) => one !== null && one !== undefined && one !== false));
  return element;
}

export function h(tag, properties, ...children) {
  return filled(document.createElement(tag), properties, children);
}

export function s(tag, properties, ...children) {
  return filled(document.createElementNS(SVG, tag), properties, children);
}

// Show other content in a place, and keep the focus on what has the same data-key.
export function show(place, ...content) {
  const focused = place.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;
  place.replaceChildren(...content.flat(Infinity).filter(Boolean));
  if (focused !== undefined) place.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus();
}

export function counted(number, noun) {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}
