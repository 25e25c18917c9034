import { signal } from '@preact/signals';
import { Fragment } from 'preact';
import { useLayoutEffect } from 'preact/hooks';
import { keys as words } from '../texts/keys.ts';
import { texts } from '../texts/texts.ts';
import { Dialog } from './dialog.tsx';
import { isTyping } from './keys.ts';
import './keys-help.css';

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
      {words.open} <kbd>?</kbd>
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
    <Dialog title={words.title} close={close}>
      <p class="dim">{words.why}</p>
      {words.parts.map(([part, all]) => (
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
          {texts.common.close}
        </button>
      </div>
    </Dialog>
  );
}
