"""What a campaign will cost and when it ends, before anything is rented. Pure: frozen values in and out."""
