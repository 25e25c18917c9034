import { type Signal, useSignal, useSignalEffect } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { readScript } from '../api/script.ts';
import type { YamlView } from './code-mirror.ts';
import './yaml-editor.css';

interface YamlEditorProps {
  readonly label: string;
  readonly value: Signal<string>;
  readonly isReadOnly?: boolean;
}

/** YAML in a code editor, which is read when it is needed; until then, and where it cannot be, in a plain field. */
export function YamlEditor({ label, value, isReadOnly = false }: YamlEditorProps) {
  const host = useRef<HTMLDivElement>(null);
  const view = useSignal<YamlView | undefined>(undefined);
  useLayoutEffect(() => {
    let isGone = false;
    readScript(() => import('./code-mirror.ts'))
      .then(({ mountYaml }) => {
        if (isGone || !host.current) return;
        const onChange = (text: string) => {
          value.value = text;
        };
        view.value = mountYaml(host.current, { label, text: value.peek(), isReadOnly, onChange });
      })
      // The plain field stays.
      .catch(() => undefined);
    return () => {
      isGone = true;
      view.peek()?.destroy();
    };
  }, []);
  useSignalEffect(() => view.value?.show(value.value));
  return (
    <div class="yaml">
      <div ref={host} class="host" />
      {!view.value && (
        <textarea
          aria-label={label}
          class="mono"
          rows={16}
          readOnly={isReadOnly}
          spellcheck={false}
          value={value.value}
          onInput={({ currentTarget }) => {
            value.value = currentTarget.value;
          }}
        />
      )}
    </div>
  );
}
