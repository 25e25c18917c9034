/** Gives a text that is cut on the screen the whole of it as its title, while it is pointed at. */
export function titleCutTexts(): void {
  addEventListener('pointerover', ({ target }) => {
    if (!(target instanceof HTMLElement) || target.closest('[title]')) return;
    const element = cutElementOf(target);
    if (!element) return;
    element.title = element.textContent;
    element.addEventListener('pointerleave', () => element.removeAttribute('title'), { once: true });
  });
}

function cutElementOf(target: HTMLElement): HTMLElement | undefined {
  for (let element: HTMLElement | null = target; element; element = element.parentElement) {
    const isCut = element.scrollWidth > element.clientWidth && getComputedStyle(element).textOverflow === 'ellipsis';
    if (isCut) return element;
  }
  return undefined;
}
