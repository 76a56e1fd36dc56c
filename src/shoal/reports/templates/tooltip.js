// Show the aria-label of the mark under the pointer. Everything else works without this script.
const tip = document.body.appendChild(document.createElement("div"));
tip.id = "tip";
tip.hidden = true;
tip.setAttribute("aria-hidden", "true");

function show(event) {
  const mark = event.target.closest?.(".picture [aria-label]");
  const words = mark?.getAttribute("aria-roledescription") === "axis" ? "" : mark?.getAttribute("aria-label");
  tip.hidden = !words;
  if (!words) return;
  tip.textContent = words.split("; ").join("\n");
  const { width, height } = tip.getBoundingClientRect();
  const left = Math.min(event.clientX + 14, document.documentElement.clientWidth - width - 6);
  const above = event.clientY - height - 12;
  tip.style.left = Math.max(6, left) + "px";
  tip.style.top = (above < 6 ? event.clientY + 18 : above) + "px";
}

document.addEventListener("pointermove", show, { passive: true });
document.addEventListener("pointerdown", show, { passive: true });
document.addEventListener("scroll", () => { tip.hidden = true; }, { passive: true });
