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

/** Says what was done, for a while. */
export function say(text: string, undo?: Message['undo']): void {
  clearTimeout(timer);
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
