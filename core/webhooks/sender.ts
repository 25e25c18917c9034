/** The request of one attempt. */
export interface DeliveryRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export type SendResult =
  | {
      readonly kind: 'answered';
      readonly status: number;
      /** Milliseconds that the receiver asks to wait (`Retry-After`). */
      readonly retryAfterMs?: number;
      /** The beginning of the body. */
      readonly text: string;
    }
  /** Nothing was answered; why, in a sentence. */
  | { readonly kind: 'failed'; readonly error: string };

/** Sends one request to where a webhook points: checked, bounded in time and size, and without following redirects. */
export interface WebhookSender {
  /** @throws where the signal aborts */
  send(outgoing: DeliveryRequest, signal: AbortSignal): Promise<SendResult>;
}
