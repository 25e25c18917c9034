import { useLayoutEffect, useRef } from 'preact/hooks';

/** Shows a dialog above the page until it is taken off; it closes when the address leads elsewhere. */
export function useModal(close: () => void) {
  const dialog = useRef<HTMLDialogElement>(null);
  const closeNow = useRef(close);
  closeNow.current = close;
  useLayoutEffect(() => {
    const shown = dialog.current;
    const { hash } = location;
    const leave = () => {
      // Opened just after its page was gone to, it is of that page.
      if (location.hash !== hash) closeNow.current();
    };
    shown?.showModal();
    addEventListener('hashchange', leave);
    return () => {
      removeEventListener('hashchange', leave);
      // A dialog removed while open would not return the focus.
      shown?.close();
    };
  }, []);
  return dialog;
}
