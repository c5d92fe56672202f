// Keeps a page up to date: fetches it again and replaces what is marked, without moving the reader's place.
// `data-live` is replaced every `data-refresh` seconds of <main>; `data-src` is fetched once, after the page has come.
const main = document.querySelector('main[data-refresh]');

/** The page at the address, with the same elements; null if it cannot be fetched now. */
async function pageAt(address) {
  try {
    const response = await fetch(address, { headers: { accept: 'text/html' } });
    return response.ok ? new DOMParser().parseFromString(await response.text(), 'text/html') : null;
  } catch {
    return null;
  }
}

/** Replaces an element by the one of the same id, unless somebody is in it. */
function replace(element, page) {
  const next = page?.getElementById(element.id);
  if (!next || next.outerHTML === element.outerHTML || element.contains(document.activeElement)) return;
  element.replaceWith(document.adoptNode(next));
}

async function refresh() {
  if (document.hidden) return;
  const page = await pageAt(location.href);
  for (const element of document.querySelectorAll('[data-live]')) replace(element, page);
}

for (const element of document.querySelectorAll('[data-src]'))
  void pageAt(element.dataset.src).then((page) => replace(element, page));
if (main) setInterval(() => void refresh(), Number(main.dataset.refresh) * 1000);
