import { useSignal } from '@preact/signals';

const SHOWN_MS = 2_000;

export function CopyButton({ text, label = 'Copy' }: { text: string; label?: string }) {
  const isCopied = useSignal(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    isCopied.value = true;
    setTimeout(() => {
      isCopied.value = false;
    }, SHOWN_MS);
  };
  return (
    <button type="button" class="link small" onClick={copy}>
      {isCopied.value ? 'Copied' : label}
    </button>
  );
}
