/** Whether a key is text of a field, or a shortcut of the browser. */
export function isTyping({ target, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean {
  return (
    ctrlKey ||
    metaKey ||
    altKey ||
    (target instanceof Element && target.closest('input, textarea, select, dialog') !== null)
  );
}
