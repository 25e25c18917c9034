import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { texts } from '../texts/texts.ts';
import { useAct } from './act.ts';
import { ProblemNotice } from './problem.tsx';

/** A modal dialog: keeps the focus, closes with Escape, gives the focus back. */
export function Dialog({ title, close, children }: { title: string; close: () => void; children: ComponentChildren }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useLayoutEffect(() => {
    dialog.current?.showModal();
  }, []);
  return (
    <dialog ref={dialog} aria-labelledby={id} onClose={close}>
      <div class="stack">
        <h2 id={id} class="break">
          {title}
        </h2>
        {children}
      </div>
    </dialog>
  );
}

interface ConfirmProps {
  readonly title: string;
  readonly children?: ComponentChildren;
  /** A verb with its object. */
  readonly act: string;
  /** To be typed, where it cannot be undone. */
  readonly name?: string | undefined;
  /** Whether all that it takes to decide is shown. */
  readonly isReady?: boolean;
  readonly run: () => Promise<unknown>;
  readonly close: () => void;
}

/** Asks before something is done; where it cannot be undone, for the name to be typed. Done, the focus is on the page. */
export function Confirm({ title, children, act: label, name, isReady = true, run, close }: ConfirmProps) {
  const typed = useSignal('');
  const isEarly = useSignal(false);
  const { isActing, problem, act } = useAct();
  const form = useRef<HTMLFormElement>(null);
  const submit = async (event: Event) => {
    event.preventDefault();
    isEarly.value = !isReady;
    const dialog = form.current?.closest('dialog');
    if (!isReady || !(await act(run))) return;
    // What asked is often gone with what was done, and would take the focus with it.
    dialog?.close();
    document.getElementById('content')?.focus({ preventScroll: true });
    close();
  };
  return (
    <Dialog title={title} close={close}>
      <form ref={form} class="stack" onSubmit={submit}>
        {children}
        {name !== undefined && (
          <label class="field">
            {texts.common.confirmName(name)}
            <input
              value={typed.value}
              autocomplete="off"
              spellcheck={false}
              onInput={({ currentTarget }) => {
                typed.value = currentTarget.value;
              }}
            />
          </label>
        )}
        {isEarly.value && (
          <p class={isReady ? 'hint' : 'fault'} role="status">
            {isReady ? texts.common.shownNow : texts.common.tooEarly}
          </p>
        )}
        <ProblemNotice problem={problem.value} />
        <div class="row">
          <button
            type="submit"
            class="danger"
            aria-disabled={!isReady}
            disabled={isActing.value || (name !== undefined && typed.value !== name)}
          >
            {label}
          </button>
          <button type="button" class="quiet" onClick={close}>
            {texts.common.cancel}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
