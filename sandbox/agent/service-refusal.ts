import type { ServiceBehaviour } from './service-behaviour.ts';

/** Refuses a request: handlers throw it, and the response has the configured format. */
export class ServiceRefusal extends Error {
  override readonly name = 'ServiceRefusal';
  readonly status: number;
  readonly place: string[];

  /** `place` is the part of the request at fault, such as `['body', 'title']`. */
  constructor(status: number, message: string, place: string[] = []) {
    super(message);
    this.status = status;
    this.place = place;
  }
}

export function notFound(what: string, id: string): ServiceRefusal {
  return new ServiceRefusal(404, `${what} '${id}' not found`);
}

export function invalid(place: string[], message: string): ServiceRefusal {
  return new ServiceRefusal(422, message, place);
}

/** The response body of a refusal: a string for plain text, otherwise JSON. */
export function refusalBody(shape: ServiceBehaviour['errorBody'], refusal: ServiceRefusal): unknown {
  const { message, place, status } = refusal;
  switch (shape) {
    case 'detail':
      return { detail: place.length > 0 ? `${place.join('.')}: ${message}` : message };
    case 'detail-list':
      return { detail: [{ loc: place, msg: message, type: `error_${status}` }] };
    case 'error-message':
      return { error: { message, code: status } };
    case 'error':
      return { error: message };
    case 'message':
      return { message };
    case 'title':
      return { type: 'about:blank', title: message, status };
    case 'text':
      return message;
  }
}
