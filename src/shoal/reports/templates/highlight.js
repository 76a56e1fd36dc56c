// A click on a method of a chart makes the others faint; a click elsewhere shows all of them again.
document.addEventListener("click", (event) => {
  const chosen = event.target.closest?.("[data-group]")?.dataset.group;
  for (const one of document.querySelectorAll("[data-group]")) {
    one.classList.toggle("faint", chosen !== undefined && one.dataset.group !== chosen);
  }
});
