import { TIMESTAMP_TOLERANCE_S } from "@posthorn/protocol";
import { SECRET_VARIABLE, type SnippetParts } from "./parts.ts";

/** Enough for any event: operators may allow 16 MiB of data. */
const MAX_BODY = "32<<20";

/** A receiver in Go that only uses the standard library. */
export const goSnippet = ({ headers }: SnippetParts) => `package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"time"
)

var secret = []byte(os.Getenv("${SECRET_VARIABLE}"))

// verify returns 200 for a genuine request, otherwise the status to refuse it with.
func verify(body []byte, timestamp, signature string) int {
	sent, err := strconv.ParseInt(timestamp, 10, 64)
	if age := time.Now().Unix() - sent; err != nil || age > ${TIMESTAMP_TOLERANCE_S} || age < -${TIMESTAMP_TOLERANCE_S} {
		return http.StatusBadRequest
	}
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(timestamp + "."))
	mac.Write(body)
	if !hmac.Equal([]byte(hex.EncodeToString(mac.Sum(nil))), []byte(signature)) {
		return http.StatusUnauthorized
	}
	return http.StatusOK
}

// handle handles an event, or stores it for later. The same event may come again: skip an ID that you have already handled.
func handle(body []byte) error {
	var event struct{ ID, Type string }
	if err := json.Unmarshal(body, &event); err != nil {
		return err
	}
	log.Println(event.Type, event.ID)
	return nil
}

func receive(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, ${MAX_BODY}))
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	status := verify(body, r.Header.Get("${headers.timestamp}"), r.Header.Get("${headers.signature}"))
	if status == http.StatusOK {
		if err := handle(body); err != nil { // First: a 2xx ends the retries.
			log.Println(err)
			status = http.StatusInternalServerError // The event will come again.
		}
	}
	w.WriteHeader(status)
}

func main() {
	if len(secret) == 0 {
		log.Fatal("Set ${SECRET_VARIABLE} to the webhook's signing secret.")
	}
	port := os.Getenv("PORT")
	if port == "" {
		port = "3000"
	}
	log.Println("Listening on port", port)
	log.Fatal(http.ListenAndServe(":"+port, http.HandlerFunc(receive)))
}
`;
