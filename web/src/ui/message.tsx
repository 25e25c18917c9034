import { signal } from '@preact/signals';

interface Message {
  readonly text: string;
  /** Only where undo is real. */
  readonly undo?: { readonly label: string; readonly run: () => void } | undefined;
}

const message = signal<Message | undefined>(undefined);
let timer: ReturnType<typeof setTimeout> | undefined;
const SHOWN_MS = 8_000;
/** Time to read it, and to see that it was a mistake. */
const SHOWN_WITH_UNDO_MS = 30_000;

/** The address that the message belongs to; undefined while the act that it tells of may lead to another one. */
let home: string | undefined;
addEventListener('hashchange', () => {
  if (home !== undefined && home !== location.hash) message.value = undefined;
});

/** Says what was done, for a while, and not on the pages that the person goes to afterwards. */
export function say(text: string, undo?: Message['undo']): void {
  clearTimeout(timer);
  home = undefined;
  setTimeout(() => {
    home = location.hash;
  });
  message.value = { text, undo };
  timer = setTimeout(
    () => {
      message.value = undefined;
    },
    undo ? SHOWN_WITH_UNDO_MS : SHOWN_MS,
  );
}

export function Messages() {
  const { text, undo } = message.value ?? {};
  return (
    <div class="message" role="status" aria-live="polite">
      {text && (
        <p>
          <span class="break">{text}</span>
          {undo && (
            <button
              type="button"
              class="link"
              onClick={() => {
                message.value = undefined;
                undo.run();
              }}
            >
              {undo.label}
            </button>
          )}
          <button
            type="button"
            class="quiet"
            aria-label="Close"
            onClick={() => {
              message.value = undefined;
            }}
          >
            ✕
          </button>
        </p>
      )}
    </div>
  );
}
