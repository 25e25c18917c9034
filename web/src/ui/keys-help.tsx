import { signal } from '@preact/signals';
import { Fragment } from 'preact';
import { useLayoutEffect } from 'preact/hooks';
import { Dialog } from './dialog.tsx';
import { isTyping } from './keys.ts';
import './keys-help.css';

const PARTS = [
  [
    'Everywhere',
    [
      ['Ctrl K', 'search pages, peers, policies and agents'],
      ['?', 'show these keys'],
      ['Escape', 'close the dialog or menu'],
    ],
  ],
  [
    'Review',
    [
      ['j', 'next change'],
      ['k', 'previous change'],
      ['a', 'go to Approve; Enter presses it'],
      ['r', 'go to Reject'],
      ['q', 'go to Request changes'],
      ['n', 'go to the note'],
      ['Escape', 'back to the list'],
    ],
  ],
  ['New change', [['Ctrl Enter', 'preview the sentence or the orders']]],
  [
    'Time',
    [
      ['← →', 'previous change, next change'],
      ['Home End', 'first change, now'],
    ],
  ],
] as const;

const isOpen = signal(false);
const open = () => {
  isOpen.value = true;
};
const close = () => {
  isOpen.value = false;
};

/** Opens what `?` opens, for who does not know it. */
export function KeysButton() {
  return (
    <button type="button" class="quiet wide-only" aria-haspopup="dialog" onClick={open}>
      Keys <kbd>?</kbd>
    </button>
  );
}

/** `?` on any page says which keys there are. */
export function KeysHelp() {
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key === '?' && !isTyping(event)) open();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
  if (!isOpen.value) return null;
  return (
    <Dialog title="Keys" close={close}>
      <p class="dim">Inactive while you type in a field.</p>
      {PARTS.map(([part, all]) => (
        <section key={part} class="stack-small">
          <h3>{part}</h3>
          <dl class="keys">
            {all.map(([key, what]) => (
              <Fragment key={key}>
                <dt>
                  {key.split(' ').map((one) => (
                    <kbd key={one}>{one}</kbd>
                  ))}
                </dt>
                <dd>{what}</dd>
              </Fragment>
            ))}
          </dl>
        </section>
      ))}
      <div class="row">
        <button type="button" onClick={close}>
          Close
        </button>
      </div>
    </Dialog>
  );
}
